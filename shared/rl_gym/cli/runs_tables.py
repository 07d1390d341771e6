"""Runs and models of a trainer as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rl_gym.wire.model import Model
    from rl_gym.wire.run import Run, StageProgress, StageStatus

__all__ = ["models_table", "runs_table", "stages_table"]


def runs_table(runs: Sequence[Run]) -> Table:
    """A line a run: what it is, its state, and the stage that it is at."""
    table = _table("run", "preset", "mode", "seed", "state", "submitted (UTC)", "at")
    for run in runs:
        seed = "" if run.spec.seed is None else str(run.spec.seed)
        created = f"{run.created:%Y-%m-%d %H:%M}"
        _row(table, run.id, run.spec.preset, run.spec.mode, seed, run.state, created, _at(run))
    return table


def stages_table(run: Run) -> Table:
    """A line a stage: its state, attempts, time, how far it is, and what it failed of."""
    table = _table("stage", "state", "attempt", "took", "progress", "error")
    for stage in run.stages:
        attempt = str(stage.attempt) if stage.attempt else ""
        error = stage.error.detail if stage.error else ""
        _row(table, stage.stage, stage.state, attempt, _took(stage), _progress(stage.progress), error)
    return table


def models_table(models: Sequence[Model]) -> Table:
    """A line a model: where it comes from, and the digest of what its run has trained."""
    table = _table("model", "base", "trained from", "digest")
    for model in models:
        _row(table, model.name, model.base, model.parent or "the base", model.adapter_digest[:12])
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _row(table: Table, *cells: str) -> None:
    # As text: what somebody named or wrote is no markup.
    table.add_row(*map(Text, cells))


def _at(run: Run) -> str:
    """The stage that a run is at, or ended with where it is not done."""
    if run.state == "done":
        return ""
    stage = next((one for one in run.stages if one.state != "done"), None)
    if stage is None:
        return ""
    said = stage.error.detail if stage.error and stage.state in ("dead", "failed") else _progress(stage.progress)
    return f"{stage.stage}  {said}" if said else stage.stage


def _progress(progress: StageProgress | None) -> str:
    if progress is None or not progress.step:
        return ""
    parts = [f"{progress.step}/{progress.steps}"]
    parts += [f"reward {progress.reward:.3f}"] if progress.reward is not None else []
    parts += [f"{_seconds(progress.seconds_left)} left"] if progress.seconds_left else []
    return "  ".join(parts)


def _took(stage: StageStatus) -> str:
    if stage.started is None or stage.ended is None:
        return ""
    return _seconds((stage.ended - stage.started).total_seconds())


def _seconds(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
