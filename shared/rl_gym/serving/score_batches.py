"""Many small questions to the verifier, asked in few calls: a call has a price that does not depend on its items."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import ValidationError

from rl_gym.iac.standard import Standard
from rl_gym.infra.errors import InfrastructureError, RlGymError, UsageError, revived
from rl_gym.wire import Scorecard, ScoreItem, ScoreRequest, ScoreResult
from rl_gym.wire.clients.verifier import AsyncVerifierClient
from rl_gym.wire.message import refusal

__all__ = ["ScoreBatches", "scorecard_or_error"]

_CALLS = 2
"""One is judged while the other travels. Whoever comes meanwhile waits, and goes with the next."""
_SLOW_SECONDS = 0.25
"""A call that takes longer holds up no other: the next one goes out beside it."""
_MOST_ITEMS = 64


@dataclass(eq=False, slots=True)
class _Asked:
    standard: Standard
    items: Sequence[ScoreItem]
    request_id: str
    results: asyncio.Future[list[ScoreResult]]


class ScoreBatches:
    """Joins what is asked at the same time under the same standard. Where nobody else asks, nobody waits.

    A call goes under the id of the first request in it.
    """

    def __init__(self, verifier: AsyncVerifierClient) -> None:
        self._verifier = verifier
        self._waiting: deque[_Asked] = deque()
        self._quick = 0
        """Calls that are out, but for the slow ones."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def results(self, standard: Standard, items: Sequence[ScoreItem], request_id: str) -> list[ScoreResult]:
        """One result an item, in order; raises as `AsyncVerifierClient.score` does."""
        asked = _Asked(standard, items, request_id, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        self._send()
        return await asked.results

    async def close(self) -> None:
        """Let whoever waits wait no longer."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for asked in self._waiting:
            asked.results.cancel()

    def _send(self) -> None:
        while self._quick < _CALLS and (batch := self._next()):
            self._quick += 1
            task = asyncio.create_task(self._out(batch))
            self._tasks.add(task)
            task.add_done_callback(partial(self._ended, batch))

    def _ended(self, batch: Sequence[_Asked], task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        for asked in batch:
            asked.results.cancel()

    def _next(self) -> list[_Asked]:
        """The request that has waited longest, and as many others under its standard as go with it."""
        batch: list[_Asked] = []
        left: deque[_Asked] = deque()
        room = _MOST_ITEMS
        for asked in self._waiting:
            if asked.results.done():
                continue
            if not batch or (asked.standard == batch[0].standard and len(asked.items) <= room):
                batch.append(asked)
                room -= len(asked.items)
            else:
                left.append(asked)
        self._waiting = left
        return batch

    async def _out(self, batch: Sequence[_Asked]) -> None:
        answering = asyncio.create_task(self._answer(batch))
        try:
            await asyncio.wait({answering}, timeout=_SLOW_SECONDS)
            self._quick -= 1
            self._send()
            await answering
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)

    async def _answer(self, batch: Sequence[_Asked]) -> None:
        try:
            results = await self._ask(batch)
        except UsageError as error:
            if len(batch) > 1:
                # What is wrong with one, such as its size, is no answer to the others.
                await asyncio.gather(*(self._answer([asked]) for asked in batch))
            else:
                _fail(batch, error)
        except ValidationError as error:
            _fail(batch, refusal(error))
        except Exception as error:
            _fail(batch, error)
        else:
            for asked in batch:
                _settle(asked, [next(results) for _ in asked.items])

    async def _ask(self, batch: Sequence[_Asked]) -> Iterator[ScoreResult]:
        standard = batch[0].standard
        items = [item for asked in batch for item in asked.items]
        request = ScoreRequest(
            environment=standard.environment, ruleset=standard.ruleset, profile=standard.profile, items=items
        )
        results = (await self._verifier.score(request, batch[0].request_id)).results
        if len(results) != len(items):
            raise InfrastructureError(f"the verifier gave {len(results)} results for {len(items)} items")
        return iter(results)


def scorecard_or_error(result: ScoreResult) -> Scorecard | RlGymError:
    """What was said of one item; a word for an error that is not known here is taken for a fault."""
    if result.scorecard is not None:
        return result.scorecard
    assert result.error is not None
    return revived(result.error.error, f"the verifier: {result.error.detail}", InfrastructureError.status)


def _settle(asked: _Asked, results: list[ScoreResult]) -> None:
    if not asked.results.done():
        asked.results.set_result(results)


def _fail(batch: Sequence[_Asked], error: Exception) -> None:
    for asked in batch:
        if not asked.results.done():
            asked.results.set_exception(error)
