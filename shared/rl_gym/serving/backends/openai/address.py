"""Addresses of engines."""

from __future__ import annotations

import httpx

from rl_gym.infra.errors import UsageError

__all__ = ["root"]


def root(address: str) -> str:
    """An engine's address without the `/v1` that it may end in; raises UsageError for what is no address."""
    try:
        url = httpx.URL(address.strip())
    except httpx.InvalidURL:
        raise UsageError("the engine's address cannot be read: it looks like http://host:port") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise UsageError("the engine's address has to begin with http:// or https:// and name a host")
    if url.userinfo:
        raise UsageError("the engine's address must not hold a name or password: give the key as a setting")
    if url.query or url.fragment:
        raise UsageError("the engine's address must not hold a query")
    return str(url).rstrip("/").removesuffix("/v1").rstrip("/")
