"""One attempt at a stage: what its worker does when it ends, breaks, is cancelled, or loses its lease."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.wire import Run
from services.trainer.delivery import StagePlan
from services.trainer.work import Outcome, Pace, Stage, StoppedError, Work, perform
from tests.unit.services.trainer.runs import DIGEST, TERMS, Runs

PACE = Pace(heartbeat_seconds=0.01, stage_seconds=600)
GPU = (StagePlan("sft", "gpu"),)


def done(runs: Runs, stage: Stage, pace: Pace = PACE) -> tuple[Run, Outcome]:
    """A run of one stage that was worked on once, as it is then, and what came of that."""
    run = runs.submit(plan=GPU)
    outcome = perform(runs.delivery, {"sft": stage}, run.id, "sft", pace)
    return runs.delivery.run(run.id), outcome


def until_stopped(work: Work) -> str:
    work.stopped.wait(30)
    work.check()
    return DIGEST


def test_a_stage_has_its_run_and_configuration_and_ends_with_its_manifest(runs: Runs) -> None:
    seen: list[Work] = []

    def stage(work: Work) -> str:
        seen.append(work)
        work.progress(3, 3, reward=0.5)
        return DIGEST

    run, outcome = done(runs, stage)
    assert (outcome, run.state, run.stages[0].manifest_digest) == ("done", "done", DIGEST)
    assert (seen[0].run.id, seen[0].config, seen[0].lease.token) == (run.id, {"steps": 3}, 1)
    progress = run.stages[0].progress
    assert progress is not None
    assert (progress.step, progress.reward) == (3, 0.5)


def test_a_mean_that_is_no_number_is_left_out_of_progress(runs: Runs) -> None:
    def stage(work: Work) -> str:
        work.progress(1, 3, reward=float("nan"))
        return DIGEST

    run, outcome = done(runs, stage)
    assert run.stages[0].progress is not None
    assert (outcome, run.stages[0].progress.reward) == ("done", None)


@pytest.mark.parametrize(
    ("error", "code", "detail", "state"),
    [
        (UsageError("no such\ndataset"), "usage", "no such dataset", "failed"),
        (InfrastructureError("the verifier is silent"), "infrastructure_error", "the verifier is silent", "waiting"),
        (SystemExit(3), "infrastructure_error", "SystemExit: 3", "waiting"),
        (StoppedError("nobody asked"), "infrastructure_error", "StoppedError: nobody asked", "waiting"),
        (ZeroDivisionError("by zero"), "infrastructure_error", "ZeroDivisionError: by zero", "waiting"),
    ],
)
def test_what_a_stage_raises_is_kept_and_decides_whether_there_is_another_attempt(
    runs: Runs, error: BaseException, code: str, detail: str, state: str
) -> None:
    def stage(work: Work) -> str:
        raise error

    run, outcome = done(runs, stage)
    assert (outcome, run.stages[0].state) == ("failed", state)
    assert run.stages[0].error is not None
    assert (run.stages[0].error.error, run.stages[0].error.detail) == (code, detail)


def test_a_message_that_leads_to_nothing_is_dropped(runs: Runs) -> None:
    def never(work: Work) -> str:
        raise AssertionError

    run, _ = done(runs, lambda _: DIGEST)
    assert perform(runs.delivery, {"sft": never}, run.id, "sft", PACE) == "dropped"
    assert perform(runs.delivery, {"sft": never}, "nobody's", "sft", PACE) == "dropped"
    waiting = runs.submit(plan=GPU)
    assert perform(runs.delivery, {}, waiting.id, "sft", PACE) == "dropped"
    assert runs.states(waiting) == ["waiting", "waiting"]


def test_a_cancelled_stage_is_stopped_by_its_heartbeat(runs: Runs) -> None:
    def stage(work: Work) -> str:
        runs.delivery.cancel(work.run.id)
        return until_stopped(work)

    run, outcome = done(runs, stage)
    assert (outcome, run.state, run.stages[0].state) == ("given_back", "cancelled", "cancelled")


def test_a_closing_worker_gives_its_stage_back(runs: Runs) -> None:
    run, outcome = done(runs, until_stopped, replace(PACE, closing=lambda: True))
    assert (outcome, run.stages[0].state, run.stages[0].error) == ("given_back", "waiting", None)


def test_what_a_stage_raises_because_it_was_stopped_is_no_failure(runs: Runs) -> None:
    def stage(work: Work) -> str:
        work.stopped.wait(30)
        raise InfrastructureError("its process ended with SIGTERM")

    run, outcome = done(runs, stage, replace(PACE, closing=lambda: True))
    assert (outcome, run.stages[0].state, run.stages[0].error) == ("given_back", "waiting", None)


def test_a_stage_that_takes_too_long_has_failed(runs: Runs) -> None:
    run, outcome = done(runs, until_stopped, replace(PACE, stage_seconds=0))
    assert (outcome, run.stages[0].state) == ("failed", "waiting")
    assert run.stages[0].error is not None
    assert run.stages[0].error.detail == "it took longer than 0 s"


@pytest.mark.parametrize("listens", [True, False])
def test_an_attempt_that_was_replaced_is_stopped_and_its_result_refused(runs: Runs, listens: bool) -> None:
    def stage(work: Work) -> str:
        take_over(runs, work)
        return until_stopped(work) if listens else DIGEST

    run, outcome = done(runs, stage)
    assert (outcome, run.stages[0].state, run.stages[0].attempt) == ("lost", "running", 2)


def take_over(runs: Runs, work: Work) -> None:
    """Have another worker take the stage, as if this one had been silent."""
    attempt = 1
    while attempt == 1:
        runs.forward(TERMS.lease_seconds)
        runs.delivery.reconcile()
        if lease := runs.delivery.claim(work.run.id, "sft", "ben"):
            attempt = lease.token


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_a_worker_that_is_told_to_end_in_mid_stage_gives_it_back(runs: Runs, end: type[BaseException]) -> None:
    def stage(work: Work) -> str:
        raise end

    run = runs.submit(plan=GPU)
    with pytest.raises(end):
        perform(runs.delivery, {"sft": stage}, run.id, "sft", replace(PACE, closing=lambda: end is SystemExit))
    assert runs.states(run) == ["waiting", "waiting"]
    assert runs.delivery.run(run.id).stages[0].error is None


def failing(method: Callable[..., Any], times: int) -> Callable[..., Any]:
    """The method, but the database fails so many times first."""
    left = iter(range(times))

    def call(*arguments: Any) -> Any:
        if next(left, None) is not None:
            raise InfrastructureError("the database failed")
        return method(*arguments)

    return call


def test_a_result_waits_for_a_database_that_comes_back(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs.delivery, "finish", failing(runs.delivery.finish, times=2))
    run, outcome = done(runs, lambda _: DIGEST)
    assert (outcome, run.state) == ("done", "done")


def test_a_worker_that_cannot_reach_the_database_stops_when_somebody_else_may_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path, terms=replace(TERMS, lease_seconds=0.05))
    monkeypatch.setattr(runs.delivery, "heartbeat", failing(runs.delivery.heartbeat, times=10**6))
    run, outcome = done(runs, until_stopped)
    assert (outcome, run.stages[0].state) == ("lost", "running")
    runs.database.close()


def test_a_heartbeat_that_hangs_does_not_keep_a_stage_at_work_beyond_its_lease(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path, terms=replace(TERMS, lease_seconds=0.2))
    hung, stage_ended = threading.Event(), threading.Event()

    def hangs(*arguments: Any) -> bool:
        hung.set()
        return not stage_ended.wait(30)

    def stage(work: Work) -> str:
        assert hung.wait(30)
        try:
            return until_stopped(work)
        finally:
            stage_ended.set()

    monkeypatch.setattr(runs.delivery, "heartbeat", hangs)
    begun = time.monotonic()
    run, outcome = done(runs, stage)
    assert (outcome, run.stages[0].state) == ("lost", "running")
    assert time.monotonic() - begun < 20
    runs.database.close()


@pytest.mark.parametrize("read", ["run", "config"])
def test_a_database_that_fails_for_a_moment_at_the_begin_costs_no_attempt(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    monkeypatch.setattr(runs.delivery, read, failing(getattr(runs.delivery, read), times=2))
    run, outcome = done(runs, lambda _: DIGEST)
    assert (outcome, run.state, run.stages[0].attempt) == ("done", "done", 1)


def test_a_configuration_that_cannot_be_read_is_a_failure_of_the_stage(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(run: str) -> Any:
        raise ValueError("no such field")

    monkeypatch.setattr(runs.delivery, "config", broken)
    run, outcome = done(runs, lambda _: DIGEST)
    assert (outcome, run.stages[0].state) == ("failed", "waiting")
    assert run.stages[0].error is not None
    assert run.stages[0].error.detail == "ValueError: no such field"


@pytest.mark.parametrize(("times", "state"), [(2, "waiting"), (10**6, "running")])
def test_a_worker_that_is_told_to_end_ends_whatever_the_database_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, state: str
) -> None:
    def stage(work: Work) -> str:
        raise KeyboardInterrupt

    runs = Runs(tmp_path, terms=replace(TERMS, lease_seconds=3))
    monkeypatch.setattr(runs.delivery, "give_back", failing(runs.delivery.give_back, times=times))
    run = runs.submit(plan=GPU)
    with pytest.raises(KeyboardInterrupt):
        perform(runs.delivery, {"sft": stage}, run.id, "sft", PACE)
    assert runs.states(run)[1] == state
    runs.database.close()


def test_heartbeats_that_fail_for_a_while_do_not_stop_a_stage(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    heartbeat = runs.delivery.heartbeat
    came_back = threading.Event()

    def arrives(*arguments: Any) -> bool:
        came_back.set()
        return heartbeat(*arguments)

    def stage(work: Work) -> str:
        assert came_back.wait(30)
        work.check()
        return DIGEST

    monkeypatch.setattr(runs.delivery, "heartbeat", failing(arrives, times=3))
    run, outcome = done(runs, stage)
    assert (outcome, run.state) == ("done", "done")
