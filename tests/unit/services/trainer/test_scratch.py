"""A worker's disk: what is left of runs that ended long ago goes, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.training.run import SCRATCH, locked
from rl_gym.wire import Run
from services.trainer.scratch import Sweep, mark
from services.trainer.settings import TrainerSettings
from tests.unit.services.trainer.runs import FAULT, TERMS, Runs

HOUR = 3_600.0
KEPT = 24 * HOUR


def left(runs: Runs, name: str, *, marked: bool = True) -> Path:
    """A run folder on the worker's disk."""
    folder = runs.folder / "runs" / name
    (folder / "sft" / "checkpoints").mkdir(parents=True)
    (folder / "sft" / "checkpoints" / "weights").write_text("1")
    if marked:
        mark(folder)
    return folder


def sweep(runs: Runs) -> None:
    Sweep(TrainerSettings(runs=runs.folder / "runs"))(runs.delivery)


def failed(runs: Runs) -> Run:
    run = runs.submit()
    runs.delivery.fail(runs.claim(run, "prepare"), FAULT, is_final=True)
    return run


def dead(runs: Runs) -> Run:
    run = runs.submit()
    for _ in range(TERMS.attempts):
        runs.delivery.fail(runs.claim(run, "prepare"), FAULT)
        runs.forward(HOUR)
    return run


def cancelled(runs: Runs) -> Run:
    run = runs.submit()
    runs.delivery.cancel(run.id)
    return run


def done(runs: Runs) -> Run:
    run = runs.submit()
    for stage in run.stages:
        runs.delivery.finish(runs.claim(run, stage.stage), "0123456789ab")
    return run


@pytest.mark.parametrize("end", [failed, dead, cancelled, done])
def test_what_is_left_of_a_run_goes_once_it_has_ended_long_ago(runs: Runs, end: object) -> None:
    assert callable(end)
    folder = left(runs, end(runs).id)
    runs.forward(KEPT - 5 * HOUR)
    sweep(runs)
    assert (folder / "sft" / "checkpoints" / "weights").is_file()
    runs.forward(5 * HOUR)
    sweep(runs)
    assert not folder.exists()


def test_a_run_that_waits_or_runs_or_is_tried_again_keeps_all(runs: Runs) -> None:
    waiting, (running, lease), again = runs.submit(), runs.until_sft(), failed(runs)
    folders = [left(runs, run.id) for run in (waiting, running, again)]
    runs.forward(10 * KEPT)
    runs.delivery.retry(again.id)
    sweep(runs)
    assert all(folder.is_dir() for folder in folders)
    runs.delivery.fail(lease, FAULT, is_final=True)
    sweep(runs)
    assert all(folder.is_dir() for folder in folders)


def test_what_is_no_workers_or_is_in_use_or_unknown_stays(runs: Runs) -> None:
    fetched, used = left(runs, failed(runs).id, marked=False), left(runs, failed(runs).id)
    others = [left(runs, name) for name in ("20260102-0123456789ab", "objects", "micro-seed0")]
    runs.forward(KEPT)
    with locked(used):
        sweep(runs)
    assert all(folder.is_dir() for folder in (fetched, used, *others))
    sweep(runs)
    assert not used.exists()


def test_a_database_that_is_away_costs_nothing(runs: Runs) -> None:
    folder = left(runs, failed(runs).id)
    runs.forward(KEPT)
    with runs.database.connection() as connection:
        connection.exec_driver_sql("DROP TABLE events")
    sweep(runs)
    assert (folder / SCRATCH).exists()


def test_it_looks_once_an_hour_at_most(runs: Runs) -> None:
    once = Sweep(TrainerSettings(runs=runs.folder / "runs"))
    once(runs.delivery)
    folder = left(runs, failed(runs).id)
    runs.forward(KEPT)
    once(runs.delivery)
    assert folder.is_dir()
