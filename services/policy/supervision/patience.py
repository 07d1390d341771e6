"""How long an engine is waited for, and how often it is started again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from services.policy.supervision.process import SHUTDOWN_SECONDS

__all__ = ["Patience", "Restarts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds and numbers. An engine is asked for a token after `quiet_seconds` without work, and has `token_seconds`
    for it; one that ran out of memory within `settling_seconds` of its start goes on with less.
    """

    start_seconds: float = 900
    quiet_seconds: float = 20
    token_seconds: float = 60
    settling_seconds: float = 600
    restarts: int = 5
    window_seconds: float = 600
    first_pause_seconds: float = 1
    longest_pause_seconds: float = 30
    stop_seconds: float = SHUTDOWN_SECONDS + 10


class Restarts:
    """Counts restarts, and says how long to pause before each, or that there were too many within the window."""

    def __init__(self, patience: Patience, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience, self._clock = patience, clock
        self._recent: deque[float] = deque()
        self.total = 0

    def next_pause(self) -> float | None:
        """Seconds to wait before the restart that is due, doubled for every recent one; None where it must not be."""
        now = self._clock()
        while self._recent and self._recent[0] <= now - self._patience.window_seconds:
            self._recent.popleft()
        if len(self._recent) >= self._patience.restarts:
            return None
        pause = self._patience.first_pause_seconds * 2.0 ** len(self._recent)
        self._recent.append(now)
        self.total += 1
        return min(pause, self._patience.longest_pause_seconds)
