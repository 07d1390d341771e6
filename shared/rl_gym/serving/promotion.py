"""The promoted model: a signed pointer in the object store, moved by compare-and-swap.

Writing to the store is not enough to choose what serves: a pointer is believed where one of the known keys signed it.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from pydantic import ValidationError

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.object_store import ObjectStore
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.wire.message import refusal
from rl_gym.wire.model import PROMOTED, PromotedPointer

__all__ = ["Promoted", "promote", "promoted"]

_MAX_BYTES = 64 << 10
_UNSIGNED = "A" * 86 + "=="


@dataclass(frozen=True, slots=True)
class Promoted:
    """A pointer that is believed, and the tag by which it may be replaced."""

    pointer: PromotedPointer
    etag: str


def promoted(store: ObjectStore, keys: KeyRing) -> Promoted | None:
    """The pointer as it stands, None where there is none.

    Raises InfrastructureError for one that is malformed, or that none of `keys` signed: without keys none is believed.
    """
    try:
        stored = store.get(PROMOTED, max_bytes=_MAX_BYTES)
        pointer = PromotedPointer.model_validate_json(stored.body)
    except NotFoundError:
        return None
    except (ValidationError, UsageError):
        raise InfrastructureError("the pointer to the promoted model is malformed") from None
    if not keys:
        raise InfrastructureError(
            "a model is promoted, and nobody is believed who says so: name the public keys in RL_GYM_PROMOTION_KEYS"
        )
    if keys.verify(base64.b64decode(pointer.signature), pointer.signed) is None:
        raise InfrastructureError(
            "the pointer to the promoted model is signed by none of the keys in RL_GYM_PROMOTION_KEYS"
        )
    return Promoted(pointer, stored.etag)


def promote(
    store: ObjectStore,
    key: SigningKey,
    incumbent: Promoted | None,
    *,
    model: str,
    base: str,
    adapter_digest: str,
    run: str,
    verdict: str,
) -> PromotedPointer:
    """Point to a model in the place of `incumbent`, the one that it was judged against; None where there is none.

    Raises ConflictError where another was promoted meanwhile, UsageError for what no pointer can say.
    """
    number = 0 if incumbent is None else incumbent.pointer.number + 1
    try:
        unsigned = PromotedPointer(
            number=number,
            model=model,
            base=base,
            adapter_digest=adapter_digest,
            run=run,
            verdict=verdict,
            signature=_UNSIGNED,
        )
    except ValidationError as error:
        raise refusal(error) from None
    signature = base64.b64encode(key.sign(unsigned.signed)).decode()
    pointer = unsigned.model_copy(update={"signature": signature})
    body = pointer.model_dump_json().encode()
    if incumbent is None:
        store.create(PROMOTED, body)
    else:
        store.replace(PROMOTED, body, incumbent.etag)
    return pointer
