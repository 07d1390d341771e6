"""From how many requests a day on a GPU of one's own is cheaper than paying an outside model for each."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rl_gym.infra.errors import UsageError

__all__ = ["HOURS_A_DAY", "BreakEven", "break_even"]

HOURS_A_DAY = 24


@dataclass(frozen=True, slots=True)
class BreakEven:
    """`requests_a_day`: above it the GPU, which runs all day, is cheaper; infinite where it never is.

    `most_a_day` is how many requests one GPU can answer in a day, None where nobody said.
    """

    gpu_hour_usd: float
    usd_per_request: float
    requests_a_day: float
    most_a_day: float | None

    @property
    def within_reach(self) -> bool | None:
        """Whether one GPU can answer more requests than it takes for it to be cheaper; None where nobody knows."""
        if math.isinf(self.requests_a_day):
            return False
        return None if self.most_a_day is None else self.requests_a_day < self.most_a_day


def break_even(gpu_hour_usd: float, usd_per_request: float, own_per_hour: float | None = None) -> BreakEven:
    """24 hours x price of an hour / cost of a request: at that many requests a day both cost the same.

    Where a request costs nothing a GPU is never cheaper; where the GPU costs nothing it is from the first request on.
    Raises UsageError for what is no amount.
    """
    for what, amount in (("an hour of a GPU", gpu_hour_usd), ("a request", usd_per_request)):
        if not (math.isfinite(amount) and amount >= 0):
            raise UsageError(f"break-even: {what} costs 0 or more US dollars, not {amount}")
    if own_per_hour is not None and not (math.isfinite(own_per_hour) and own_per_hour > 0):
        raise UsageError(f"break-even: a GPU answers more than 0 requests an hour, not {own_per_hour}")
    requests = HOURS_A_DAY * gpu_hour_usd / usd_per_request if usd_per_request else math.inf
    return BreakEven(gpu_hour_usd, usd_per_request, requests, own_per_hour and HOURS_A_DAY * own_per_hour)
