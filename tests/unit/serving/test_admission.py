"""The line in front of an engine: bounded, in order, and without a place for whoever left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from rl_gym.infra.errors import BusyError
from rl_gym.serving.admission import Admission


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Line:
    """Calls that stay inside until they are let go, and the order in which they came in."""

    def __init__(self, inside: int, waiting: int) -> None:
        self.admission = Admission(inside, waiting)
        self.came: list[str] = []
        self._let_go: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def add(self, name: str, sequences: int = 1) -> None:
        self._let_go[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._call(name, sequences))
        await settled()

    async def _call(self, name: str, sequences: int) -> None:
        async with self.admission.enter(sequences):
            self.came.append(name)
            await self._let_go[name].wait()

    async def end(self, name: str) -> None:
        self._let_go[name].set()
        await self.tasks[name]
        await settled()

    async def leave(self, name: str) -> None:
        self.tasks[name].cancel()
        await settled()

    async def finish(self) -> None:
        for event in self._let_go.values():
            event.set()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)
        assert (self.admission.inside, self.admission.waiting) == (0, 0)


def run(inside: int, waiting: int, scenario: Callable[[Line], Awaitable[None]]) -> None:
    async def play() -> None:
        line = Line(inside, waiting)
        await scenario(line)
        await line.finish()

    asyncio.run(play())


def test_first_come_first_served_even_where_a_smaller_one_would_fit() -> None:
    async def scenario(line: Line) -> None:
        await line.add("a", 2)
        await line.add("b", 3)
        await line.add("c", 1)
        assert line.came == ["a"]
        assert (line.admission.inside, line.admission.waiting) == (2, 4)
        await line.end("a")
        assert line.came == ["a", "b"]
        await line.end("b")
        assert line.came == ["a", "b", "c"]

    run(3, 8, scenario)


def test_a_full_line_is_a_plain_no() -> None:
    async def scenario(line: Line) -> None:
        await line.add("a", 2)
        await line.add("b", 2)
        await line.add("c", 1)
        with pytest.raises(BusyError, match="2 sequences wait"):
            await line.tasks["c"]
        with pytest.raises(BusyError, match="2 sequences wait"):
            line.admission.check(1)
        await line.end("a")
        line.admission.check(2)

    run(2, 2, scenario)


def test_a_call_larger_than_the_engine_goes_in_alone() -> None:
    async def scenario(line: Line) -> None:
        await line.add("large", 100)
        await line.add("small")
        assert line.came == ["large"]
        await line.end("large")
        assert line.came == ["large", "small"]

    run(4, 4, scenario)


def test_whoever_leaves_gives_up_the_place_inside_or_in_line() -> None:
    async def scenario(line: Line) -> None:
        for name in "abc":
            await line.add(name)
        await line.leave("b")
        assert line.admission.waiting == 1
        await line.leave("a")
        assert line.came == ["a", "c"]

    run(1, 4, scenario)


def test_whoever_leaves_while_being_let_in_takes_no_place_with_them() -> None:
    async def scenario(line: Line) -> None:
        async with line.admission.enter(1):
            await line.add("b")
            await line.add("c")
        # `b` has been admitted, and has not run since.
        await line.leave("b")
        assert line.came == ["c"]

    run(1, 4, scenario)


def test_many_who_leave_at_once_leave_nothing_behind() -> None:
    async def scenario(line: Line) -> None:
        for name in "abcdef":
            await line.add(name, 2)
        # None of them has a turn before all are cancelled: those inside let in those who have left as well.
        for name in "abcde":
            line.tasks[name].cancel()
        await settled()
        assert line.came == ["a", "b", "f"]
        assert (line.admission.inside, line.admission.waiting) == (2, 0)
        for name in "abcde":
            assert line.tasks[name].cancelled()

    run(4, 16, scenario)
