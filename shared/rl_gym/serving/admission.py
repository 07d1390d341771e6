"""The bounded queue in front of an engine: so many sequences inside, so many waiting, and a plain no beyond."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from rl_gym.infra.errors import BusyError

__all__ = ["Admission"]


@dataclass(eq=False, slots=True)
class _Waiting:
    sequences: int
    admitted: asyncio.Future[None]

    @property
    def left(self) -> bool:
        """Whether its call was cancelled, which it may have had no turn to notice yet."""
        return self.admitted.cancelled()


class Admission:
    """At most `inside` sequences in the engine at a time, at most `waiting` in front of it; first come, first served.

    The engine batches what is inside by itself. A call of more sequences than may be inside goes in alone.
    """

    def __init__(self, inside: int, waiting: int) -> None:
        self._most, self._most_waiting = inside, waiting
        self._queue: deque[_Waiting] = deque()
        self.inside = 0
        self.waiting = 0

    @asynccontextmanager
    async def enter(self, sequences: int) -> AsyncIterator[None]:
        """Wait until there is room, and hold it. Raises BusyError where as many wait as may."""
        self.check(sequences)
        size = min(sequences, self._most)
        if self._must_wait(size):
            await self._wait(size)
        else:
            self.inside += size
        try:
            yield
        finally:
            self.inside -= size
            self._admit()

    def check(self, sequences: int) -> None:
        """Raises BusyError where a call of so many would be turned away now."""
        size = min(sequences, self._most)
        if self._must_wait(size) and self.waiting + size > self._most_waiting:
            raise BusyError(f"{self.waiting} sequences wait for the engine already; try again later")

    def _must_wait(self, size: int) -> bool:
        return bool(self._queue) or self.inside + size > self._most

    async def _wait(self, size: int) -> None:
        place = _Waiting(size, asyncio.get_running_loop().create_future())
        self._queue.append(place)
        self.waiting += size
        try:
            await place.admitted
        except asyncio.CancelledError:
            if place in self._queue:
                self._queue.remove(place)
                self.waiting -= size
            elif not place.left:
                self.inside -= size
            self._admit()
            raise

    def _admit(self) -> None:
        while self._queue and (self._queue[0].left or self.inside + self._queue[0].sequences <= self._most):
            place = self._queue.popleft()
            self.waiting -= place.sequences
            if not place.left:
                self.inside += place.sequences
                place.admitted.set_result(None)
