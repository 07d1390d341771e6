"""Who may call: whoever brings a principal that is signed by a known key; without keys, this very machine alone."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import urlsplit

import structlog
from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from rl_gym.infra.errors import ForbiddenError, UnauthorizedError
from rl_gym.infra.hosting.errors import error_response, request_id
from rl_gym.infra.principals import Clock, Principal, read_principal
from rl_gym.infra.signing import KeyRing

__all__ = ["Access", "Caller", "LoopbackOnly", "is_loopback", "require"]

_LOCAL = Principal("local", frozenset())

_bearer = HTTPBearer(auto_error=False, description="A short-lived signed principal")
Caller = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this very machine, by its form: no name is looked up."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Access:
    """Reads the principals that are made for `audience` and signed by one of `keys`."""

    def __init__(self, keys: KeyRing, audience: str, clock: Clock = time.time) -> None:
        self.keys = keys
        self._audience = audience
        self._clock = clock

    def principal(self, caller: HTTPAuthorizationCredentials | None, scope: str) -> Principal:
        """Who calls, where it may do what `scope` names.

        Raises UnauthorizedError or ForbiddenError; without keys everyone is let in, since `LoopbackOnly` stands before.
        A principal that was made for one request is believed under its id alone.
        """
        if not self.keys:
            return _LOCAL
        if caller is None:
            raise UnauthorizedError("a principal is needed: Authorization: Bearer TOKEN")
        principal = read_principal(caller.credentials, self.keys, self._audience, self._clock)
        if principal.request_id not in ("", request_id()):
            raise UnauthorizedError("principal: made for another request; its id must be sent as X-Request-Id")
        principal.require(scope)
        return principal


def require(scope: str) -> Callable[[Request, Caller], Awaitable[Principal]]:
    """A dependency of a route: its caller must have this scope, and is named in the log."""

    async def check(request: Request, caller: Caller) -> Principal:
        access: Access = request.app.state.access
        principal = access.principal(caller, scope)
        structlog.contextvars.bind_contextvars(principal=principal.subject[:200])
        return principal

    return check


class LoopbackOnly:
    """ASGI middleware: serves peers of this very machine alone, and no web page that was loaded from elsewhere.

    It looks at the connection and never at what a proxy says of it. The names in Host and Origin are looked at because
    a browser on this machine may be led here by a page of a stranger.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(scope) if scope["type"] == "http" else ""
        if refusal:
            await error_response(ForbiddenError(refusal))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _refusal(scope: Scope) -> str:
    peer = scope.get("client")
    if peer is None or not is_loopback(peer[0]):
        return "without principal keys only callers of this very machine are served: set RL_GYM_PRINCIPAL_KEYS"
    headers = Headers(scope=scope)
    if not _names_loopback(f"//{headers.get('host', '')}"):
        return "without principal keys the Host must be localhost or a loopback address"
    if "origin" in headers and not _names_loopback(headers["origin"]):
        return "without principal keys no page from elsewhere is served"
    return ""


def _names_loopback(address: str) -> bool:
    try:
        return is_loopback(urlsplit(address).hostname or "")
    except ValueError:
        return False
