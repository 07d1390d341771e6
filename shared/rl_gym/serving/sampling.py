"""How to sample, and what comes of it: the words that every model engine shares."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rl_gym.infra.errors import UsageError
from rl_gym.wire.complete import FinishReason

__all__ = ["MAX_SAMPLES", "MAX_TOKENS", "Sample", "Sampling"]

MAX_SAMPLES = 256
MAX_TOKENS = 16_384


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample: `n` completions a prompt, each of at most `max_tokens` tokens.

    `greedy` takes the likeliest token each time (temperature, top_p and seed are then unused) and needs `n` to be 1.
    `logprobs` asks for the log-probability of every sampled token under the sampling distribution.
    """

    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0
    greedy: bool = False
    logprobs: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.n <= MAX_SAMPLES:
            raise UsageError(f"sampling: n must lie in 1..{MAX_SAMPLES}, not {self.n}")
        if not 1 <= self.max_tokens <= MAX_TOKENS:
            raise UsageError(f"sampling: max_tokens must lie in 1..{MAX_TOKENS}, not {self.max_tokens}")
        if not (math.isfinite(self.temperature) and 0 < self.temperature <= 10):
            raise UsageError(f"sampling: temperature must lie in (0, 10], not {self.temperature}; use greedy for 0")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"sampling: top_p must lie in (0, 1], not {self.top_p}")
        if self.greedy and self.n != 1:
            raise UsageError(f"sampling: greedy gives one completion a prompt, but n is {self.n}")


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion. `tokens` counts what the model produced, its end token included.

    `finish_reason` is "stop" where the model ended by itself and "length" where `max_tokens` cut it.
    """

    text: str
    tokens: int
    finish_reason: FinishReason
    logprobs: tuple[float, ...] | None = None
