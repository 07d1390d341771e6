"""Principals: who calls, signed for a short time, so that a service need not trust the network that a call came by.

A principal travels as a JSON web token under EdDSA, whose header names the key that signed it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jwt
from jwt.types import Options

from rl_gym.infra.errors import ForbiddenError, UnauthorizedError
from rl_gym.infra.signing import KeyRing, SigningKey

__all__ = ["MAX_LIFETIME_SECONDS", "MAX_SKEW_SECONDS", "SCOPES", "Clock", "Issuer", "Principal", "read_principal"]

Clock = Callable[[], float]
"""Seconds since the epoch."""

MAX_LIFETIME_SECONDS = 300
MAX_SKEW_SECONDS = 10
MAX_TOKEN_CHARACTERS = 4_096

_REQUIRED = ("sub", "aud", "scope", "iat", "exp")
# Times are checked here, by the clock that is handed in and with a bound on the lifetime.
_OPTIONS: Options = {
    "require": list(_REQUIRED),
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    "verify_aud": True,
}

SCOPES = {
    "policy": ("complete", "generate", "operate"),
    "trainer": ("train", "watch"),
    "verifier": ("scan", "score"),
}
"""What a principal may be let do, by service."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls (`subject`), what it may (`scopes`), and for which request alone: any, where `request_id` is empty."""

    subject: str
    scopes: frozenset[str]
    request_id: str = ""

    def require(self, scope: str) -> None:
        """Raises ForbiddenError where it lacks this scope."""
        if scope not in self.scopes:
            raise ForbiddenError(f"{self.subject} may not do this: scope {scope!r} is needed")


@dataclass(frozen=True, slots=True)
class Issuer:
    """Signs principals in the name of one caller for one service."""

    key: SigningKey
    subject: str
    audience: str
    scopes: Iterable[str]
    lifetime_seconds: int = 60
    clock: Clock = time.time

    def __post_init__(self) -> None:
        if not 0 < self.lifetime_seconds <= MAX_LIFETIME_SECONDS:
            raise ValueError(f"a principal lives 1 to {MAX_LIFETIME_SECONDS} seconds, not {self.lifetime_seconds}")

    def token(self, request_id: str = "") -> str:
        """What `Authorization: Bearer` carries: for one request where its id is named, else for any."""
        now = int(self.clock())
        claims = {
            "sub": self.subject,
            "aud": self.audience,
            "scope": " ".join(sorted(self.scopes)),
            "rid": request_id,
            "iat": now,
            "exp": now + self.lifetime_seconds,
        }
        return jwt.encode(claims, self.key.key, algorithm="EdDSA", headers={"kid": self.key.public.id})


def read_principal(token: str, keys: KeyRing, audience: str, clock: Clock = time.time) -> Principal:
    """The principal in a token that one of `keys` signed for `audience`.

    Raises UnauthorizedError for any other token, for one that is out of its time by more than MAX_SKEW_SECONDS, and
    for one that was made to live longer than MAX_LIFETIME_SECONDS.
    """
    claims = _claims(token, keys, audience)
    issued, expires = claims["iat"], claims["exp"]
    if not all(type(moment) is int for moment in (issued, expires)):
        raise UnauthorizedError("principal: iat and exp must be whole seconds")
    if not 0 < expires - issued <= MAX_LIFETIME_SECONDS:
        raise UnauthorizedError(f"principal: it lives {expires - issued} s; at most {MAX_LIFETIME_SECONDS} are allowed")
    now = clock()
    if issued > now + MAX_SKEW_SECONDS:
        raise UnauthorizedError("principal: issued in the future; compare the clocks")
    if expires <= now - MAX_SKEW_SECONDS:
        raise UnauthorizedError("principal: expired; ask for a new one")
    texts = claims["sub"], claims["scope"], claims.get("rid", "")
    if not all(isinstance(text, str) for text in texts) or not texts[0]:
        raise UnauthorizedError("principal: sub, scope and rid must be text")
    return Principal(texts[0], frozenset(texts[1].split()), texts[2])


def _claims(token: str, keys: KeyRing, audience: str) -> dict[str, Any]:
    if len(token) > MAX_TOKEN_CHARACTERS:
        raise UnauthorizedError(f"principal: {len(token)} characters; at most {MAX_TOKEN_CHARACTERS} are read")
    try:
        key = keys.get(jwt.get_unverified_header(token).get("kid"))
        if key is None:
            raise UnauthorizedError("principal: signed by a key that is not in use here")
        claims: dict[str, Any] = jwt.decode(token, key.key, ["EdDSA"], options=_OPTIONS, audience=audience)
    except jwt.InvalidAudienceError:
        raise UnauthorizedError(f"principal: not made for {audience!r}") from None
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise UnauthorizedError("principal: the token is malformed or its signature does not fit") from None
    return claims
