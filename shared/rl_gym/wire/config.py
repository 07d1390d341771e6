"""What a policy service is made of now: its engine, who answers under which name, and how much may be asked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.wire.generate import ColumnName, Mode
from rl_gym.wire.message import Count, Digest, Line, Name, Reply
from rl_gym.wire.model import ServedModel

__all__ = [
    "ColumnConfig",
    "ConfigResponse",
    "EngineBody",
    "EngineStatus",
    "GenerateLimits",
    "PricesBody",
    "PromotedState",
    "ReloadResponse",
]

EngineStatus = Literal["starting", "ready", "restarting", "draining", "failed"]
"""`failed`: it was tried as often as it may be, and somebody has to look."""


class EngineBody(Reply):
    """The engine behind the columns `tuned` and `base`."""

    name: Name = Field(description="What kind of engine it is: transformers, vllm, openai")
    status: EngineStatus
    base: Name = Field(description="The model that it was started with")
    flags: dict[str, str | int | float | bool | None] = Field(
        default_factory=dict, description="What it was started with and accepted, by the names of its own options"
    )
    rung: str = Field(default="", max_length=200, description="Which configuration of those that were tried, in words")
    restarts: Count = Field(default=0, description="Since the service started")
    trouble: Line = Field(default="", description="Why it is not ready, or was started with less than was asked for")


class PricesBody(Reply):
    """US dollars: an hour of the GPU, or a million tokens; zeros mean unknown."""

    gpu_hour_usd: float = Field(default=0.0, ge=0)
    prompt_million_usd: float = Field(default=0.0, ge=0)
    completion_million_usd: float = Field(default=0.0, ge=0)


class ColumnConfig(Reply):
    """Who answers under the name of a column."""

    name: ColumnName
    model: ServedModel
    prices: PricesBody = PricesBody()
    deterministic: bool = Field(
        description="Whether the same greedy request gets the same answer, whatever else is asked meanwhile"
    )


class GenerateLimits(Reply):
    """How much a request may ask for."""

    samples: Count = Field(description="The most of `n`")
    max_tokens: Count = Field(description="Of one completion")
    request_characters: Count


class PromotedState(Reply):
    """The pointer to the promoted model, as it was read last."""

    adapter_digest: Digest | None = Field(default=None, description="What it names; None where there is none")
    trouble: Line = Field(default="", description="Why that does not serve; empty where it does")


class ConfigResponse(Reply):
    """What answers here, by which standard where a request names none, and how much may be asked."""

    engine: EngineBody
    columns: list[ColumnConfig] = Field(description="Those that a request may choose")
    promoted: PromotedState = PromotedState()
    ruleset: Name = DEFAULT_RULESET
    profile: Name = DEFAULT_PROFILE
    modes: list[Mode]
    limits: GenerateLimits


class ReloadResponse(Reply):
    """What came of reading the pointer again."""

    outcome: Literal["unchanged", "switched", "kept"] = Field(
        description="`kept`: another model is promoted, which does not serve; `trouble` says why"
    )
    model: ServedModel = Field(description="What serves now")
    trouble: Line = ""
