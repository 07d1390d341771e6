"""A pool of worker processes: fair between requests, and no payload takes the answer of another with it.

A worker is given a chunk of the request that has had the least of the workers' time, and hands back what it has not
begun after a slice: so a request waits for slices, and not for the whole of another. Short requests have a worker of
their own besides, for when long ones hold all the others. A payload whose worker dies is tried once more.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from rl_gym.infra.errors import BusyError, InfrastructureError
from services.verifier.frames import Answer, Kind
from services.verifier.process import Worker, WorkerGoneError
from services.verifier.tasks import Task

__all__ = ["Pool"]

MIN_CHUNK, MAX_CHUNK = 4, 16
_TRIES = 2
_SHORT = 8
"""Payloads of a request that counts as short."""
_OLDEST_EVERY = 4
"""Each so manyth chunk is of the request whose last turn is longest ago, so that none waits for ever."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 5.0

_log = structlog.get_logger("pool")


@dataclass(eq=False, slots=True)
class _Request:
    """The payloads of one request: which wait, how often each was tried in vain, and what was answered."""

    task: Task
    payloads: Sequence[bytes]
    waiting: deque[int]
    failures: list[int]
    answers: list[Answer | None]
    left: int
    spent_seconds: float = 0.0
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, task: Task, payloads: Sequence[bytes]) -> _Request:
        size = len(payloads)
        return cls(task, payloads, deque(range(size)), [0] * size, [None] * size, size)

    @property
    def short(self) -> bool:
        return len(self.payloads) <= _SHORT

    def take(self, workers: int) -> list[int]:
        """The next chunk: smaller towards the end, so that all workers end together."""
        share = max(MIN_CHUNK, math.ceil(len(self.waiting) / workers))
        return [self.waiting.popleft() for _ in range(min(MAX_CHUNK, share, len(self.waiting)))]

    def settle(self, chunk: Sequence[int], answers: Sequence[Answer], gone: WorkerGoneError | None) -> None:
        """Keep what was answered of a chunk, and let the rest wait again; what ended its worker waits at the end."""
        for position, answer in zip(chunk, answers, strict=False):
            if answer.kind is Kind.FAULT:
                self._fail(position, answer)
            else:
                self._keep(position, answer)
        rest = list(chunk[len(answers) :])
        if gone is not None and rest:
            guilty = rest.pop(max(0, gone.begun - 1 - len(answers)))
            self._fail(guilty, _fault(f"not judged: {gone}; it was tried {_TRIES} times"))
        self.waiting.extendleft(reversed(rest))

    def give_up(self, detail: str) -> None:
        """Answer whatever is not answered yet."""
        self.waiting.clear()
        for position, answer in enumerate(self.answers):
            if answer is None:
                self._keep(position, _fault(detail))

    def _fail(self, position: int, answer: Answer) -> None:
        self.failures[position] += 1
        if self.failures[position] < _TRIES:
            self.waiting.append(position)
        else:
            self._keep(position, answer)

    def _keep(self, position: int, answer: Answer) -> None:
        if self.answers[position] is None:
            self.answers[position] = answer
            self.left -= 1
        if not self.left:
            self.done.set()


def _fault(detail: str) -> Answer:
    return Answer.error(Kind.FAULT, InfrastructureError.code, detail, InfrastructureError.status)


class Pool:
    """`workers` processes, each made by `start`, and one more for short requests.

    `most_waiting` bounds the payloads of all requests together, `seconds` the time of a request. `lost(cause)` is told
    of every worker that died.
    """

    def __init__(
        self,
        start: Callable[[], Awaitable[Worker]],
        *,
        workers: int,
        most_waiting: int,
        seconds: float,
        lost: Callable[[str], None],
    ) -> None:
        self._start, self._workers = start, workers
        self._most_waiting, self._seconds, self._lost = most_waiting, seconds, lost
        self._open: set[_Request] = set()
        self._turns: deque[_Request] = deque()
        """Requests with something to do, that whose last turn is longest ago first."""
        self._changed = asyncio.Condition()
        self._picks = 0
        self._ready: asyncio.Queue[Worker] = asyncio.Queue()
        self._missing = asyncio.Semaphore(workers + 1)
        self._alive: set[Worker] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.trouble = ""
        """Why no worker came up the last time that one was started; empty where one did."""

    def open(self) -> None:
        """Begin, within a running loop; workers come up meanwhile."""
        self._spawn(self._supply())
        for number in range(self._workers + 1):
            self._spawn(self._serve(short=number == self._workers))

    async def close(self) -> None:
        """Answer what waits with a fault, and end every worker."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for request in self._open:
            request.give_up("not judged: the service is shutting down")
        await asyncio.gather(*(worker.kill() for worker in self._alive))
        self._alive.clear()

    @property
    def alive(self) -> int:
        """Workers that are up."""
        return len(self._alive)

    @property
    def waiting(self) -> int:
        """Payloads that are not answered yet."""
        return sum(request.left for request in self._open)

    async def run(self, task: Task, payloads: Sequence[bytes]) -> list[Answer]:
        """One answer a payload, in order; what could not be judged in time is a fault. Raises BusyError when full."""
        if self.waiting and self.waiting + len(payloads) > self._most_waiting:
            raise BusyError(f"{self.waiting} items are waiting to be judged: try again")
        request = _Request.of(task, payloads)
        self._open.add(request)
        try:
            async with asyncio.timeout(self._seconds):
                await self._offer(request)
                await request.done.wait()
        except TimeoutError:
            request.give_up(f"not judged within {self._seconds:g} s: the verifier has too much to do")
        finally:
            request.waiting.clear()
            self._open.discard(request)
            if request in self._turns:
                self._turns.remove(request)
        return [answer for answer in request.answers if answer is not None]

    async def _offer(self, request: _Request) -> None:
        """Give a request that has something to do its place behind the others."""
        async with self._changed:
            if request.waiting and request in self._open and request not in self._turns:
                self._turns.append(request)
                self._changed.notify_all()

    async def _next(self, short: bool) -> tuple[_Request, list[int]]:
        """The next chunk, of a short request alone where that is asked."""
        async with self._changed:
            while not (choice := [one for one in self._turns if one.short or not short]):
                await self._changed.wait()
            self._picks += 1
            oldest = self._picks % _OLDEST_EVERY == 0
            request = choice[0] if oldest else min(choice, key=lambda one: one.spent_seconds)
            self._turns.remove(request)
            chunk = request.take(self._workers)
        await self._offer(request)
        return request, chunk

    async def _serve(self, short: bool) -> None:
        """One worker after another, at work."""
        while True:
            worker = await self._ready.get()
            cause = await self._employ(worker, short)
            self._alive.discard(worker)
            if cause:
                _log.warning("worker lost", pid=worker.pid, cause=cause)
                self._lost(cause)
            else:
                self._spawn(worker.retire())

    async def _employ(self, worker: Worker, short: bool) -> str:
        """Let a worker work until it is gone, then the cause is told, or until it is worn and another can follow."""
        followed = False
        while not (followed and self._ready.qsize()):
            request, chunk = await self._next(short)
            answers: list[Answer] = []
            gone = None
            started = time.monotonic()
            try:
                await worker.work(request.task, [request.payloads[position] for position in chunk], answers)
            except WorkerGoneError as error:
                gone = error
            request.spent_seconds += time.monotonic() - started
            request.settle(chunk, answers, gone)
            await self._offer(request)
            if (gone or worker.worn) and not followed:
                self._missing.release()
                followed = True
            if gone:
                return gone.cause
        return ""

    async def _supply(self) -> None:
        """Start a worker for each that is missing, with growing pauses while none comes up."""
        pause = _FIRST_PAUSE_SECONDS
        while True:
            await self._missing.acquire()
            while True:
                try:
                    worker = await self._start()
                    break
                except (InfrastructureError, OSError) as error:
                    self.trouble = str(error)
                    _log.error("no worker comes up", reason=self.trouble, pause_seconds=pause)
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            self.trouble, pause = "", _FIRST_PAUSE_SECONDS
            self._alive.add(worker)
            self._ready.put_nowait(worker)

    def _spawn(self, job: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self.trouble = f"a part of the pool ended: {type(error).__name__}: {error}"
            _log.error("a part of the pool ended", exc_info=error)
