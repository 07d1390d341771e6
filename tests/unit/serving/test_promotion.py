"""The promoted pointer: believed where it is signed by a known key, and moved by whoever saw what stands there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography", reason="the extra services is not installed")

from rl_gym.infra.errors import ConflictError, InfrastructureError, UsageError
from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.serving.promotion import Promoted, promote, promoted
from rl_gym.wire.model import PROMOTED, PromotedPointer

KEY, OTHER = SigningKey.generate(), SigningKey.generate()
RING = KeyRing((OTHER.public, KEY.public))
MODEL = {"model": "nano-7", "base": "nano-base", "adapter_digest": "a" * 64, "run": "7", "verdict": "b" * 64}


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path))


def read(store: ObjectStore, keys: KeyRing = RING) -> Promoted:
    found = promoted(store, keys)
    assert found is not None
    return found


def test_what_is_promoted_is_read_back_and_numbered(store: ObjectStore) -> None:
    assert promoted(store, RING) is None
    first = promote(store, KEY, None, **MODEL)
    assert read(store).pointer == first
    second = promote(store, OTHER, read(store), **{**MODEL, "adapter_digest": "c" * 64})
    assert read(store).pointer == second
    assert (first.number, second.number) == (0, 1)


def test_of_two_that_saw_the_same_incumbent_one_promotes(store: ObjectStore) -> None:
    promote(store, KEY, None, **MODEL)
    with pytest.raises(ConflictError):
        promote(store, KEY, None, **MODEL)
    incumbent = read(store)
    promote(store, KEY, incumbent, **MODEL)
    with pytest.raises(ConflictError):
        promote(store, KEY, incumbent, **MODEL)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (KeyRing(), "nobody is believed who says so: name the public keys in RL_GYM_PROMOTION_KEYS"),
        (KeyRing((OTHER.public,)), "signed by none of the keys"),
    ],
)
def test_without_the_key_it_is_not_believed(store: ObjectStore, keys: KeyRing, reason: str) -> None:
    assert promoted(store, keys) is None
    promote(store, KEY, None, **MODEL)
    with pytest.raises(InfrastructureError, match=reason):
        promoted(store, keys)


@pytest.mark.parametrize(
    "change", [{"adapter_digest": "c" * 64}, {"base": "other"}, {"number": 9}, {"signature": "A" * 86 + "=="}]
)
def test_what_was_changed_after_signing_is_not_believed(store: ObjectStore, change: dict[str, Any]) -> None:
    pointer: PromotedPointer = promote(store, KEY, None, **MODEL)
    store.put(PROMOTED, pointer.model_copy(update=change).model_dump_json().encode())
    with pytest.raises(InfrastructureError, match="signed by none of the keys"):
        promoted(store, RING)


@pytest.mark.parametrize("body", [b"", b"{}", b"\xff", b"[" * 10_000, b'{"model": "' + b"x" * 100_000 + b'"}'])
def test_what_is_no_pointer_is_told(store: ObjectStore, body: bytes) -> None:
    store.put(PROMOTED, body)
    with pytest.raises(InfrastructureError, match=r"^the pointer to the promoted model is malformed$"):
        promoted(store, RING)


def test_what_no_pointer_can_say_is_refused(store: ObjectStore) -> None:
    with pytest.raises(UsageError, match="adapter_digest"):
        promote(store, KEY, None, **{**MODEL, "adapter_digest": "latest"})
    assert promoted(store, RING) is None
