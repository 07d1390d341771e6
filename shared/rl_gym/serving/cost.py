"""What an answer costs: tokens at their prices, or its share of the time that a rented GPU worked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rl_gym.infra.errors import UsageError
from rl_gym.wire import Cost, Usage

__all__ = ["EngineClock", "Prices", "Share", "total"]

_SECONDS_AN_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars: either an hour of the GPU, or a million tokens of prompt and of completion; zeros mean unknown."""

    gpu_hour_usd: float = 0.0
    prompt_million_usd: float = 0.0
    completion_million_usd: float = 0.0

    def __post_init__(self) -> None:
        if self.gpu_hour_usd and (self.prompt_million_usd or self.completion_million_usd):
            raise UsageError("prices: an engine is paid by the hour or by the token, not by both")

    def cost(self, usage: Usage, gpu_seconds: float) -> Cost | None:
        """What this usage costs; None where no price is known."""
        if self.gpu_hour_usd:
            return Cost(
                usd=gpu_seconds / _SECONDS_AN_HOUR * self.gpu_hour_usd,
                basis="gpu_seconds",
                gpu_seconds=gpu_seconds,
                gpu_hour_usd=self.gpu_hour_usd,
            )
        if self.prompt_million_usd or self.completion_million_usd:
            tokens = usage.prompt_tokens * self.prompt_million_usd
            tokens += usage.completion_tokens * self.completion_million_usd
            return Cost(
                usd=tokens / 1e6,
                basis="tokens",
                prompt_million_usd=self.prompt_million_usd,
                completion_million_usd=self.completion_million_usd,
            )
        return None


def total(usages: Sequence[Usage]) -> Usage:
    """The sum of usages; seconds add up, as of turns that follow each other."""
    return Usage(
        prompt_tokens=sum(usage.prompt_tokens for usage in usages),
        completion_tokens=sum(usage.completion_tokens for usage in usages),
        seconds=sum(usage.seconds for usage in usages),
    )


@dataclass(slots=True)
class Share:
    """The part of the engine's busy time that one call has to answer for, in seconds, once the call is over."""

    seconds: float = 0.0


class EngineClock:
    """Divides the time that an engine is busy among the calls that it works on, by their number of sequences.

    The shares of all calls add up to the time in which at least one ran: nothing is billed twice, and waiting for
    nobody is billed to nobody. A call costs constant time, since what a sequence pays is one integral for all of them.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sequences = 0
        self._paid = 0.0
        """Seconds that a sequence would have paid which ran from the start."""
        self._at = 0.0

    @contextmanager
    def call(self, sequences: int) -> Iterator[Share]:
        """Around a call of so many sequences."""
        share = Share()
        self._advance()
        self._sequences += sequences
        before = self._paid
        try:
            yield share
        finally:
            self._advance()
            share.seconds = (self._paid - before) * sequences
            self._sequences -= sequences

    def _advance(self) -> None:
        now = self._clock()
        if self._sequences:
            self._paid += (now - self._at) / self._sequences
        self._at = now
