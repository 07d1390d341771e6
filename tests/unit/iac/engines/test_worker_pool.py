"""Workers that die, lag, babble or grow: the pool outlives them all."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rl_gym.iac.engines import worker_pool
from rl_gym.iac.engines.worker_pool import Limits, WorkerDiedError, WorkerLateError, WorkerPool, WorkerUnableError

MakePool = Callable[..., WorkerPool]

ECHO = """\
import json, os, sys
print(json.dumps({"pid": os.getpid()}), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    if job.get("die") or job.get("die_once") and not os.path.exists(job["die_once"]):
        if "die_once" in job:
            open(job["die_once"], "w").close()
        os._exit(7)
    if job.get("hang"):
        while True:
            pass
    if "hang_once" in job and not os.path.exists(job["hang_once"]):
        open(job["hang_once"], "w").close()
        while True:
            pass
    if "say" in job:
        print(job["say"], flush=True)
    else:
        print(json.dumps({"heard": job, "memory": job.get("memory", 0)}), flush=True)
"""


@pytest.fixture
def make_pool() -> Iterator[MakePool]:
    pools: list[WorkerPool] = []

    def make(program: str = ECHO, size: int = 1, limits: Limits | None = None) -> WorkerPool:
        pools.append(WorkerPool([sys.executable, "-c", program], {}, size, limits))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def pid(pool: WorkerPool, **job: object) -> int:
    """The process that does a job."""
    _, greeting = pool.ask(job, 10.0)
    process: int = greeting["pid"]
    return process


def is_alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def test_a_worker_stays_warm(make_pool: MakePool) -> None:
    pool = make_pool()
    answer, greeting = pool.ask({"text": "é\n"}, 10.0)
    assert answer["heard"] == {"text": "é\n"}
    assert pid(pool) == greeting["pid"]


def test_a_dead_worker_costs_a_second_try(make_pool: MakePool, tmp_path: Path) -> None:
    pool = make_pool()
    first = pid(pool)
    assert pid(pool, die_once=str(tmp_path / "died")) != first


def test_a_job_that_kills_two_workers_is_given_up(make_pool: MakePool) -> None:
    pool = make_pool()
    with pytest.raises(WorkerDiedError, match="status 7"):
        pool.ask({"die": True}, 10.0)
    assert pid(pool)


def test_a_late_worker_is_killed(make_pool: MakePool) -> None:
    pool = make_pool()
    late = pid(pool)
    with pytest.raises(WorkerLateError, match=r"0\.2 s"):
        pool.ask({"hang": True}, 0.2)
    assert not is_alive(late)
    assert pid(pool) != late


@pytest.mark.parametrize("said", ["nonsense", "[]", "{"])
def test_what_is_no_answer_is_none(make_pool: MakePool, said: str) -> None:
    with pytest.raises(WorkerDiedError, match="no JSON object"):
        make_pool().ask({"say": said}, 10.0)


def test_a_worker_that_cannot_work_says_why(make_pool: MakePool) -> None:
    with pytest.raises(WorkerUnableError, match="no such module"):
        make_pool('print(\'{"error": "no such module"}\')').ask({}, 10.0)


def test_a_worker_is_replaced_after_its_jobs(make_pool: MakePool) -> None:
    pool = make_pool(limits=Limits(jobs=2))
    first, second, third = (pid(pool) for _ in range(3))
    assert first == second != third
    assert not is_alive(first)


def test_a_worker_is_replaced_when_it_has_grown(make_pool: MakePool) -> None:
    pool = make_pool(limits=Limits(memory=1000))
    grown = pid(pool, memory=1001)
    assert pid(pool, memory=1000) != grown
    assert not is_alive(grown)


def test_threads_share_the_workers_and_get_their_own_answers(make_pool: MakePool) -> None:
    pool = make_pool(size=2)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda number: pool.ask({"number": number}, 10.0), range(40)))
    assert [answer["heard"]["number"] for answer, _ in answers] == list(range(40))
    assert 1 <= len({greeting["pid"] for _, greeting in answers}) <= 2


def test_a_closed_pool_starts_again(make_pool: MakePool) -> None:
    pool = make_pool()
    first = pid(pool)
    pool.close()
    assert not is_alive(first)
    assert pid(pool) != first


def test_a_pool_that_is_closed_while_a_worker_works_gives_the_job_to_another(
    make_pool: MakePool, tmp_path: Path
) -> None:
    pool, began = make_pool(), tmp_path / "began"
    first = pid(pool)
    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(pid, pool, hang_once=str(began))
        deadline = time.monotonic() + 30
        while not began.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        pool.close()
        assert working.result() != first
    assert not is_alive(first)


def test_a_pool_that_is_closed_as_a_worker_answers_keeps_none_that_is_dead(
    make_pool: MakePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, answer = make_pool(), worker_pool._Worker.ask

    def closing(worker: worker_pool._Worker, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        answered = answer(worker, request, seconds)
        pool.close()
        return answered

    monkeypatch.setattr(worker_pool._Worker, "ask", closing)
    first = pid(pool)
    monkeypatch.undo()
    assert not is_alive(first)
    assert pid(pool) != first


def test_a_fork_never_reads_its_parents_pipes(make_pool: MakePool) -> None:
    pool = make_pool()
    ours = pid(pool)
    child = os.fork()
    if child == 0:
        os._exit(0 if pid(pool) != ours else 1)
    deadline = time.monotonic() + 30
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
    assert pid(pool) == ours
