"""Generating: a request in words in, configurations with their scorecards out, whole or event by event."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, Field, model_validator

from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.wire.complete import FinishReason
from rl_gym.wire.cost import Cost, Usage
from rl_gym.wire.error import ErrorBody
from rl_gym.wire.finding import Scorecard
from rl_gym.wire.message import Completion, Message, Name, Reply, RequestText, ResourceType, Seed, unique
from rl_gym.wire.model import ServedModel

__all__ = [
    "AnswerEvent",
    "ColumnAnswer",
    "ColumnName",
    "GenerateEvent",
    "GenerateRequest",
    "GenerateResponse",
    "Mode",
    "Pass",
    "PassEvent",
    "PassKind",
    "RepairOutcome",
    "TokensEvent",
]

Mode = Literal["pass@1", "pass@1+repair", "best-of-n", "best-of-n+repair"]
ColumnName = Literal["tuned", "base", "external"]
PassKind = Literal["first", "repair", "fix"]
RepairOutcome = Literal["not_asked", "not_needed", "does_not_fit", "failed", "kept_first", "improved"]
"""What came of the repair turn; only the last two had an answer."""


class GenerateRequest(Message):
    """What to write, how often to try, and who shall try. `req` is understood for `request`."""

    request: RequestText = Field(validation_alias=AliasChoices("request", "req"))
    required: Annotated[list[ResourceType], AfterValidator(unique)] = Field(default_factory=list, max_length=64)
    environment: Name = "iac"
    ruleset: Name = DEFAULT_RULESET
    profile: Name = DEFAULT_PROFILE
    mode: Mode = "pass@1+repair"
    n: int = Field(default=1, strict=True, ge=1, le=32, description="Samples of the first pass")
    engines: Annotated[list[ColumnName], AfterValidator(unique)] = Field(default=["tuned"], min_length=1)
    fix: bool = Field(
        default=False, strict=True, description="Let the verifier's fixers run last, as a pass of its own"
    )
    stream: bool = Field(default=False, strict=True, description="Answer as server-sent events")
    seed: Seed | None = Field(
        default=None, description="Of sampling; without one, pass@1 takes the likeliest tokens and best-of-n seed 0"
    )

    @model_validator(mode="after")
    def _samples_fit_the_mode(self) -> GenerateRequest:
        if (self.n > 1) != self.mode.startswith("best-of-n"):
            raise ValueError(f"mode {self.mode} with n = {self.n}: best-of-n needs n of at least 2, pass@1 needs 1")
        return self


class Pass(Reply):
    """One configuration and its scorecard. `fix` is the work of the fixers: it never counts as the model's own."""

    kind: PassKind
    completion: Completion
    finish_reason: FinishReason | None = Field(default=None, description="None for a fix, which no model wrote")
    scorecard: Scorecard
    usage: Usage = Field(description="Of all samples of the pass")


class ColumnAnswer(Reply):
    """What one engine came to: its passes in order and the chosen one, or why it has none."""

    column: ColumnName
    model: ServedModel
    passes: list[Pass] = Field(default_factory=list)
    chosen: int | None = Field(
        default=None, ge=0, description="Index of the best pass: reward, then security, then order"
    )
    rewards: list[float] = Field(default_factory=list, description="Of every sample of the first pass, in order")
    repair: RepairOutcome = "not_asked"
    deterministic: bool = Field(default=False, description="Whether the same request would get the same answer again")
    cost: Cost | None = None
    error: ErrorBody | None = None

    @model_validator(mode="after")
    def _chosen_or_failed(self) -> ColumnAnswer:
        if (self.chosen is None) == (self.error is None):
            raise ValueError("either a chosen pass or an error is needed")
        if self.chosen is not None and self.chosen >= len(self.passes):
            raise ValueError(f"pass {self.chosen} is chosen of {len(self.passes)}")
        return self


class GenerateResponse(Reply):
    """Every column's answer, in the order they were asked for."""

    request_id: str = Field(max_length=64)
    mode: Mode
    ruleset: Name
    profile: Name = Field(description="As asked for; the digest of each breakdown names what decided")
    columns: list[ColumnAnswer]


class TokensEvent(Reply):
    """Text as the model writes it: nothing has judged it yet."""

    event: Literal["tokens"] = "tokens"
    column: ColumnName
    kind: PassKind
    text: str


class PassEvent(Reply):
    """A finished and judged pass."""

    event: Literal["pass"] = "pass"
    column: ColumnName
    result: Pass


class AnswerEvent(Reply):
    """A column's last word; the stream ends when every column has had its own."""

    event: Literal["answer"] = "answer"
    answer: ColumnAnswer


GenerateEvent = Annotated[TokensEvent | PassEvent | AnswerEvent, Field(discriminator="event")]
"""One server-sent event of a streamed GenerateResponse."""
