"""What every model engine promises: prompts in, samples out, any number of calls at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from rl_gym.infra.errors import UsageError
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.wire.cost import Usage

__all__ = ["AdapterHost", "Completions", "ModelBackend", "OnText", "PromptTooLongError"]

OnText = Callable[[int, int, str], None]
"""Told of text as it is written: number of the prompt, number of its sample, and what is new."""


class PromptTooLongError(UsageError):
    """A prompt leaves no room for its completion.

    Attributes: `tokens` of the prompt, `limit` of tokens that it may have beside `max_tokens` of completion; 0 where an
    engine does not say.
    """

    code = "prompt_too_long"

    def __init__(self, message: str, tokens: int = 0, limit: int = 0) -> None:
        super().__init__(message)
        self.tokens = tokens
        self.limit = limit


@dataclass(frozen=True, slots=True)
class Completions:
    """`sampling.n` samples for every prompt, in the order of the prompts, and what all of them took together.

    `model` is the name under which the engine says that it answered.
    """

    samples: list[list[Sample]]
    usage: Usage
    model: str


class ModelBackend(Protocol):
    """An engine that completes prompts. Many calls may run at a time: batching them is the engine's own affair.

    Whatever it raises is of the family of RlGymError: PromptTooLongError, UsageError for what the model cannot take,
    NotFoundError for a model that is not there, BusyError where the engine asks for patience, InfrastructureError for
    a fault of the engine. A call that is cancelled stops the work in the engine.
    """

    engine: str
    """What kind of engine it is: transformers, openai, vllm, scripted."""

    def deterministic(self, sampling: Sampling) -> bool:
        """Whether the same prompt and sampling give the same samples, whatever else runs beside them."""
        ...

    async def models(self) -> list[str]:
        """The names that it answers to now; raises InfrastructureError where it is not up."""
        ...

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, *, model: str, on_text: OnText | None = None
    ) -> Completions:
        """`sampling.n` samples for every prompt.

        With `on_text` the text is told as it is written; joined, the parts of a sample are its whole text.
        """
        ...

    async def close(self) -> None: ...


@runtime_checkable
class AdapterHost(Protocol):
    """An engine that can be given a model while it runs; the other models go on answering meanwhile."""

    async def load(self, name: str, folder: Path) -> None:
        """Answer to `name` with what lies in `folder`. Raises UsageError for what it cannot take."""
        ...

    async def unload(self, name: str) -> None:
        """Answer to `name` no more; a name that is not there is no error."""
        ...
