"""Principals: believed for their audience and their minute, refused for every other reason there is."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jwt", reason="the extra services is not installed")

import jwt

from rl_gym.infra.errors import ForbiddenError, UnauthorizedError
from rl_gym.infra.principals import MAX_LIFETIME_SECONDS, MAX_SKEW_SECONDS, Issuer, Principal, read_principal
from rl_gym.infra.signing import KeyRing, SigningKey

KEY, OTHER = SigningKey.generate(), SigningKey.generate()
RING = KeyRing((OTHER.public, KEY.public))
NOW = 1_800_000_000.0
CLAIMS = {"sub": "policy", "aud": "verifier", "scope": "score", "rid": "r", "iat": int(NOW), "exp": int(NOW) + 60}


def signed(key: SigningKey = KEY, kid: str | None = None, algorithm: str = "EdDSA", **changes: Any) -> str:
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    secret: Any = key.key if algorithm == "EdDSA" else "x" * 64
    return jwt.encode(claims, secret, algorithm=algorithm, headers={"kid": kid or key.public.id})


def read(token: str, now: float = NOW) -> Principal:
    return read_principal(token, RING, "verifier", lambda: now)


def test_a_principal_arrives_as_it_was_issued() -> None:
    issuer = Issuer(KEY, "policy", "verifier", ["score", "scan"], clock=lambda: NOW)
    assert read(issuer.token("r1")) == Principal("policy", frozenset({"score", "scan"}), "r1")
    assert read(signed(OTHER)).subject == "policy"


@pytest.mark.parametrize("seconds", [-MAX_SKEW_SECONDS, 0, 59, 60 + MAX_SKEW_SECONDS - 1])
def test_it_is_believed_in_its_time_give_or_take_the_skew_of_clocks(seconds: float) -> None:
    assert read(signed(), NOW + seconds).subject == "policy"


REFUSED = {
    "expired": (signed(), NOW + 60 + MAX_SKEW_SECONDS),
    "of the future": (signed(), NOW - MAX_SKEW_SECONDS - 1),
    "lives too long": (signed(exp=int(NOW) + MAX_LIFETIME_SECONDS + 1), NOW),
    "ends before it begins": (signed(exp=int(NOW) - 1), NOW),
    "ends as it begins": (signed(exp=int(NOW)), NOW),
    "for another service": (signed(aud="gateway"), NOW),
    "for nobody": (signed(aud=None), NOW),
    "without an end": (signed(exp=None), NOW),
    "without a beginning": (signed(iat=None), NOW),
    "without a subject": (signed(sub=None), NOW),
    "with an empty subject": (signed(sub=""), NOW),
    "with scopes of another kind": (signed(scope=["score"]), NOW),
    "with times of another kind": (signed(exp="soon"), NOW),
    "with a time that is no whole second": (signed(iat=NOW + 0.5), NOW),
    "by a key that is not in use": (signed(SigningKey.generate()), NOW),
    "by another key than it says": (signed(SigningKey.generate(), kid=KEY.public.id), NOW),
    "by a shared secret": (signed(algorithm="HS512"), NOW),
    "unsigned": (jwt.encode(CLAIMS, None, algorithm="none", headers={"kid": KEY.public.id}), NOW),
    "without a key's name": (jwt.encode(CLAIMS, KEY.key, algorithm="EdDSA"), NOW),
    "cut": (signed()[:-10], NOW),
    "no token": ("x", NOW),
    "empty": ("", NOW),
    "huge": (signed(rid="x" * 10_000), NOW),
    "text that is none": ("\ud800.a.b", NOW),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case: str) -> None:
    token, now = REFUSED[case]
    with pytest.raises(UnauthorizedError, match=r"^principal: ") as refusal:
        read(token, now)
    assert not token or len(token) < 10 or token not in str(refusal.value)


def test_a_scope_that_is_missing_is_named() -> None:
    with pytest.raises(ForbiddenError, match=r"policy may not do this: scope 'scan' is needed"):
        read(signed()).require("scan")


@pytest.mark.parametrize("seconds", [0, -1, MAX_LIFETIME_SECONDS + 1])
def test_no_issuer_gives_more_time_than_a_reader_takes(seconds: int) -> None:
    with pytest.raises(ValueError, match="lives"):
        Issuer(KEY, "a", "verifier", [], lifetime_seconds=seconds)
