"""A run at a trainer on the terminal: what is drawn of its events, and what its end means for the exit code."""

from __future__ import annotations

import io
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

pytest.importorskip("jwt", reason="the extra services is not installed")

from rich.console import Console

from rl_gym.cli.watching import require_done, watch_run
from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.wire import ErrorBody, Run, RunEvent, RunSpec, StageProgress, StageStatus

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ERROR = ErrorBody(error="infrastructure_error", detail="out of memory: lower grpo.batch")


def run_of(state: Any, **stages: Any) -> Run:
    made = [
        StageStatus(stage=name, state=one, attempt=2, error=ERROR if one in ("dead", "failed") else None)
        for name, one in stages.items()
    ]
    return Run(id="r-1", spec=RunSpec(preset="nano"), state=state, created=NOW, stages=made)


def event(number: int, stage: str | None, state: Any, detail: str = "", **progress: Any) -> RunEvent:
    told = StageProgress(**progress) if progress else None
    return RunEvent(run="r-1", number=number, time=NOW, stage=stage, state=state, progress=told, detail=detail)


class Trainer:
    """Tells these events, and then how the run is."""

    def __init__(self, *events: RunEvent | signal.Signals, after: Run) -> None:
        self.events, self.after = events, after

    def watch(self, run: str) -> Iterator[RunEvent]:
        for one in self.events:
            if isinstance(one, signal.Signals):
                signal.raise_signal(one)
            else:
                yield one

    def run(self, run: str) -> Run:
        return self.after


def watched(*events: RunEvent | signal.Signals) -> str:
    stream = io.StringIO()
    ended = run_of("done", prepare="done", grpo="done")
    found = watch_run(Console(file=stream, width=120), Trainer(*events, after=ended), ended)  # type: ignore[arg-type]
    assert found is ended
    return stream.getvalue()


def test_steps_rewards_and_the_time_that_is_left_are_drawn() -> None:
    text = watched(
        event(1, None, "waiting", "submitted"),
        event(2, "prepare", "done"),
        event(3, "grpo", "running", "attempt 1, by somebody"),
        event(4, "grpo", "running", step=5, steps=10, reward=0.25, seconds_left=90.0),
        event(5, "grpo", "failed", "attempt 1: its worker fell silent"),
        event(6, "grpo", "running", step=10, steps=10, reward=0.5, seconds_left=0.0),
        event(7, "grpo", "done"),
        event(8, None, "done"),
    )
    assert "grpo 5/10  reward 0.250  0:01:30 left" in text
    assert "grpo: attempt 1: its worker fell silent" in text
    assert "100%  grpo" in text
    assert "somebody" not in text


def test_ctrl_c_leaves_the_run_alone_and_says_so() -> None:
    with pytest.raises(KeyboardInterrupt, match=r"run r-1 goes on without you: `rl-gym runs watch r-1`"):
        watched(event(1, "grpo", "running"), signal.SIGINT)


def test_only_a_run_that_is_done_ends_well() -> None:
    require_done(run_of("done", sft="done"))
    with pytest.raises(UsageError, match=r"run r-1 is failed: stage sft, attempt 2: out of memory: lower grpo\.batch"):
        require_done(run_of("failed", prepare="done", sft="failed", grpo="waiting"))
    with pytest.raises(InfrastructureError, match=r"run r-1 is dead: stage sft, .*: `rl-gym runs retry r-1`"):
        require_done(run_of("dead", sft="dead"))
    with pytest.raises(UsageError, match="run r-1 was cancelled"):
        require_done(run_of("cancelled", sft="cancelled"))
