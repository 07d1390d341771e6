"""Models: where one comes from, what it is made of, which one answers, and which one is promoted."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints

from rl_gym.gym.core import content_hash
from rl_gym.infra.digests import combined_digest
from rl_gym.wire.message import Count, Digest, FullDigest, Message, Name, Reply, Signature

__all__ = ["PROMOTED", "Model", "ModelManifest", "PromotedPointer", "ServedModel"]

MAX_MODEL_FILES = 128


class Model(Reply):
    """A trained model with its lineage: everything needed to say how it came about."""

    name: Name
    base: Name = Field(description="The pretrained model at the root")
    base_digest: Digest | None = Field(default=None, description="Of the base's weights, whatever it was called")
    parent: Name | None = Field(default=None, description="The model that training started from, if not the base")
    adapter_digest: Digest = Field(description="Of the adapter; of the weights where every weight was trained")
    data_digest: Digest = Field(description="Of the training episodes")
    ruleset_digest: Digest = Field(description="Of what the reward was made of")
    code_version: str = Field(max_length=64)
    run: Name
    created: AwareDatetime


class ServedModel(Reply):
    """Which model and adapter answered, through which engine."""

    engine: Name
    name: Name = Field(description="The name under which the engine answered")
    base: Name
    adapter_digest: Digest | None = Field(default=None, description="None where the base itself answered")


FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_=@+-][A-Za-z0-9._=@+/-]*$", max_length=200)]


class ModelManifest(Message):
    """The files of a stored model or adapter. It is what its digest says, where their digests combine to that."""

    files: Annotated[dict[FileName, FullDigest], Field(min_length=1, max_length=MAX_MODEL_FILES)]

    @property
    def digest(self) -> str:
        return combined_digest(self.files)


PROMOTED = "models/promoted.json"
"""Where the pointer to the promoted model lies in the object store."""


class PromotedPointer(Message):
    """The model that serves. Stored at one key, signed, and moved by compare-and-swap."""

    number: Count = Field(description="Rises with every promotion: a pointer does not come back once a newer was seen")
    model: Name
    base: Name
    adapter_digest: FullDigest = Field(description="What the server must load, and no other")
    run: Name
    verdict: Digest = Field(description="Of the gate's stored verdict that promoted it")
    signature: Signature = Field(description="Ed25519 over `signed`, in base64")

    @property
    def signed(self) -> bytes:
        """What is signed: the canonical form of all but the signature, told apart from anything else that is."""
        content = self.model_dump(mode="json", exclude={"signature"})
        return f"promoted {content_hash(content)}".encode()
