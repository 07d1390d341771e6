"""Models: where one comes from, which one answers, and which one is promoted."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from rl_gym.wire.message import Digest, Message, Name, Reply

__all__ = ["Model", "PromotedPointer", "ServedModel"]


class Model(Reply):
    """A trained model with its lineage: everything needed to say how it came about."""

    name: Name
    base: Name = Field(description="The pretrained model at the root")
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
    base: Name
    adapter_digest: Digest | None = Field(default=None, description="None where the base itself answered")


class PromotedPointer(Message):
    """The model that serves. Stored at one key and moved by compare-and-swap."""

    model: Name
    base: Name
    adapter_digest: Digest = Field(description="What the server must load, and no other")
    run: Name
    verdict: Digest = Field(description="Of the gate's stored verdict that promoted it")
