"""Completing: prompts in, raw samples out; what evaluation, RAFT and mining ask of an engine."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from rl_gym.wire.cost import Cost, Usage
from rl_gym.wire.message import Completion, Count, Message, Name, Reply, Seed
from rl_gym.wire.model import ServedModel

__all__ = ["CompleteRequest", "CompleteResponse", "FinishReason", "SampleBody", "SamplingBody"]

FinishReason = Literal["stop", "length"]
Prompt = Annotated[str, StringConstraints(min_length=1, max_length=262_144)]


class SamplingBody(Message):
    """How to sample. `greedy` takes the likeliest token each time and gives one completion a prompt."""

    n: int = Field(default=1, strict=True, ge=1, le=256, description="Completions a prompt")
    temperature: float = Field(default=1.0, gt=0, le=10)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=512, strict=True, ge=1, le=16_384)
    seed: Seed = 0
    greedy: bool = Field(default=False, strict=True)
    logprobs: bool = Field(default=False, strict=True, description="Ask for the log-probability of every token")

    @model_validator(mode="after")
    def _one_if_greedy(self) -> SamplingBody:
        if self.greedy and self.n != 1:
            raise ValueError(f"greedy gives one completion a prompt, but n is {self.n}")
        return self


class CompleteRequest(Message):
    """Prompts for one model; without a name, for the promoted one."""

    model: Name | None = None
    prompts: Annotated[list[Prompt], Field(min_length=1, max_length=1_024)]
    sampling: SamplingBody = SamplingBody()


class SampleBody(Reply):
    """One completion; `tokens` counts what the model produced, its end token included."""

    text: Completion
    tokens: Count
    finish_reason: FinishReason = Field(description="`length` where max_tokens cut it")
    logprobs: list[float] | None = Field(default=None, description="Natural logarithms, one a token")


class CompleteResponse(Reply):
    """`sampling.n` samples for every prompt, in the order of the prompts."""

    model: ServedModel
    samples: list[list[SampleBody]]
    usage: Usage
    cost: Cost | None = Field(default=None, description="None where no price is known")
    deterministic: bool = Field(description="Whether the same request would give the same samples again")
