"""The pool with real processes that are stuck, swell or die: order, fairness, a second try, never a reward of 0."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("structlog", reason="the extra services is not installed")

from rl_gym.infra.errors import BusyError, InfrastructureError
from services.verifier import tasks
from services.verifier.frames import Answer, Kind
from services.verifier.pool import Pool, _Request
from services.verifier.process import Worker, WorkerGoneError, WorkerLimits
from tests.unit.services.verifier.hostile_environment import NAME

LIMITS = WorkerLimits(seconds=3, memory_bytes=128 << 20, payloads=1_000)
PATIENT = replace(LIMITS, seconds=30)
TASK = tasks.score(NAME, "base", "default")


def item(command: str) -> bytes:
    return json.dumps({"episode": {"id": "e", "request": "obey"}, "completion": command}).encode()


def reward(answer: Answer) -> float:
    assert answer.kind is Kind.JUDGED, answer
    return float(json.loads(answer.body)["breakdown"]["reward"])


def detail(answer: Answer) -> str:
    assert answer.kind is Kind.FAULT, answer
    said = json.loads(answer.body)
    assert said["error"] == "infrastructure_error"
    return str(said["detail"])


@asynccontextmanager
async def running(
    workers: int = 1, limits: WorkerLimits = LIMITS, **options: Any
) -> AsyncIterator[tuple[Pool, list[str]]]:
    lost: list[str] = []
    settings = {"most_waiting": 1_000, "seconds": 60, **options}
    pool = Pool(partial(Worker.start, [NAME], "", limits), workers=workers, lost=lost.append, **settings)
    pool.open()
    try:
        yield pool, lost
    finally:
        await pool.close()


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), 100))  # type: ignore[arg-type]


def test_answers_come_in_the_order_of_the_items() -> None:
    async def scenario() -> None:
        async with running(workers=2) as (pool, _):
            wanted = [(17 * n) % 100 / 100 for n in range(100)]
            answers = await pool.run(TASK, [item(f"reward {value}") for value in wanted])
            assert [reward(answer) for answer in answers] == wanted

    run(scenario)


def test_what_harms_its_worker_is_tried_twice_and_its_neighbours_keep_their_rewards(tmp_path: Path) -> None:
    bad = ["sleep 60", "swell", "die", "raise boom"]
    good = ["print noise", "interrupt", f"die-once {tmp_path / 'died'}", f"raise-once {tmp_path / 'raised'}"]
    commands = [word for one in bad for word in ("reward 0.5", one)] + good

    async def scenario() -> None:
        async with running(workers=2) as (pool, lost):
            answers = dict(zip(commands, await pool.run(TASK, [item(word) for word in commands]), strict=True))
            assert reward(answers["reward 0.5"]) == 0.5
            assert [reward(answers[word]) for word in good] == [1.0] * 4
            told = {word: detail(answers[word]) for word in bad}
            assert "longer than" in told["sleep 60"]
            assert "128 MiB of memory" in told["swell"]
            assert "code -9" in told["die"]
            assert "RuntimeError: boom" in told["raise boom"]
            # Each that kills is tried twice, and the one of the good that dies once is tried once more.
            assert sorted(lost) == ["died"] * 3 + ["late"] * 2 + ["memory"] * 2
            assert reward((await pool.run(TASK, [item("reward 1")]))[0]) == 1.0

    run(scenario)


def test_what_ended_its_worker_waits_behind_what_it_held_up() -> None:
    request = _Request.of(TASK, [b""] * 6)
    chunk = request.take(workers=2)
    assert chunk == [0, 1, 2, 3]
    gone = WorkerGoneError("died", "its worker ended")
    gone.begun = 2
    request.settle(chunk, [Answer(Kind.JUDGED)], gone)
    assert (list(request.waiting), request.left) == ([2, 3, 4, 5, 1], 5)
    request.settle(request.take(workers=2), [Answer(Kind.JUDGED)] * 3, None)
    assert (list(request.waiting), request.left) == ([5, 1], 2)


def test_a_request_waits_for_slices_and_not_for_the_whole_of_another() -> None:
    """With one worker and a batch of slow items before it, a small request is served after a few of them."""

    async def scenario() -> None:
        async with running() as (pool, _):
            slow = asyncio.create_task(pool.run(TASK, [item("sleep 0.03")] * 40))
            await asyncio.sleep(0.1)
            await pool.run(TASK, [item("reward 1")])
            left = pool.waiting
            assert not slow.done()
            assert left > 10
            assert all(reward(answer) == 1.0 for answer in await slow)

    run(scenario)


def test_a_short_request_has_a_worker_when_long_ones_hold_all_others() -> None:
    async def scenario() -> None:
        async with running(limits=PATIENT) as (pool, _):
            while pool.alive < 2:
                await asyncio.sleep(0.01)
            long = asyncio.create_task(pool.run(TASK, [item("sleep 20")] * 9))
            await asyncio.sleep(0.1)
            assert reward((await pool.run(TASK, [item("reward 1")] * 8))[7]) == 1.0
            assert pool.waiting == 9
            long.cancel()

    run(scenario)


def test_a_full_queue_refuses_and_one_batch_always_finds_room() -> None:
    async def scenario() -> None:
        async with running(most_waiting=3) as (pool, _):
            first = asyncio.create_task(pool.run(TASK, [item("sleep 0.05")] * 10))
            await asyncio.sleep(0)
            with pytest.raises(BusyError, match="10 items are waiting"):
                await pool.run(TASK, [item("reward 1")])
            assert len(await first) == 10

    run(scenario)


def test_what_is_not_judged_in_time_is_a_fault_and_leaves_nothing_behind() -> None:
    async def scenario() -> None:
        async with running(seconds=3, limits=PATIENT) as (pool, _):
            assert reward((await pool.run(TASK, [item("reward 1")]))[0]) == 1.0
            (stuck,) = await pool.run(TASK, [item("sleep 20")])
            assert "not judged within 3 s" in detail(stuck)
            assert pool.waiting == 0

    run(scenario)


def test_a_worn_worker_makes_way_for_another() -> None:
    async def scenario() -> None:
        async with running(limits=replace(LIMITS, payloads=30)) as (pool, lost):
            for _ in range(4):
                answers = await pool.run(TASK, [item("reward 0.25")] * 25)
                assert [reward(answer) for answer in answers] == [0.25] * 25
            assert lost == []

    run(scenario)


def test_workers_see_nothing_of_the_environment_and_are_gone_after_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RL_GYM_SECRET_OF_A_TEST", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    names = ["RL_GYM_SECRET_OF_A_TEST", "AWS_SECRET_ACCESS_KEY", "PATH"]

    async def scenario() -> None:
        async with running() as (pool, _):
            answers = await pool.run(TASK, [item(f"environment {name}") for name in names])
            assert [reward(answer) for answer in answers] == [0.0, 0.0, 1.0]
            pids = [worker.pid for worker in pool._alive]
        assert pids
        assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]

    run(scenario)


def test_a_pool_says_why_no_worker_comes_up_and_goes_on_trying() -> None:
    tries: list[float] = []

    async def start() -> Worker:
        tries.append(time.monotonic())
        if len(tries) < 3:
            raise InfrastructureError("no room")
        return await Worker.start([NAME], "", LIMITS)

    async def scenario() -> None:
        pool = Pool(start, workers=1, most_waiting=10, seconds=60, lost=lambda cause: None)
        pool.open()
        try:
            await asyncio.sleep(0.05)
            assert (pool.trouble, pool.alive) == ("no room", 0)
            assert reward((await pool.run(TASK, [item("reward 1")]))[0]) == 1.0
            assert pool.trouble == ""
        finally:
            await pool.close()

    run(scenario)


def test_a_worker_that_does_not_load_is_a_fault_of_ours() -> None:
    async def scenario() -> None:
        with pytest.raises(InfrastructureError, match=r"^a worker cannot begin: unknown environment 'iacc'; .*'iac'"):
            await Worker.start(["iacc"], "", LIMITS)
        with pytest.raises(InfrastructureError, match=r"^a worker cannot begin: rule compiler 'no:f' does not load"):
            await Worker.start([NAME], "no:f", LIMITS)

    run(scenario)


MALFORMED: Sequence[tuple[bytes, str]] = [
    (b"3", "object"),
    (b"{}", "episode: Field required"),
    (b"\xff", "JSON"),
    (item("x").replace(b'"obey"', b"7"), "episode.request: Input should be a valid string"),
]


def test_a_malformed_item_is_refused_and_not_tried_again() -> None:
    async def scenario() -> None:
        async with running() as (pool, lost):
            answers = await pool.run(TASK, [payload for payload, _ in MALFORMED])
            for (_, reason), answer in zip(MALFORMED, answers, strict=True):
                assert answer.kind is Kind.REFUSED
                assert reason in json.loads(answer.body)["detail"]
            assert lost == []

    run(scenario)
