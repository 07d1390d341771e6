"""Joining a run that another machine started: which machines there are, and when there is nothing to join."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from rl_gym.cli.main import main
from rl_gym.infra.errors import UsageError
from rl_gym.training.config import resolve
from rl_gym.training.join import join
from rl_gym.training.run import Run

TWO = ("machine.machines=2", "machine.address=first")


def made(folder: Path, changes: tuple[str, ...]) -> Run:
    return Run.create(folder, resolve("micro", changes), now=datetime(2025, 1, 1), digests={})


@pytest.mark.parametrize(
    ("changes", "rank", "said"),
    [
        (TWO, 0, "has no machine 0 to join: 1 to 1 join it"),
        (TWO, 2, "has no machine 2 to join: 1 to 1 join it"),
        ((), 1, "has no machine 1 to join: machine.machines is 1: nothing joins it"),
    ],
)
def test_a_machine_that_the_run_does_not_have_is_refused(
    tmp_path: Path, changes: tuple[str, ...], rank: int, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        join(made(tmp_path, changes), rank, print)


def test_a_run_whose_training_has_ended_is_left_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = made(tmp_path / "run", TWO)
    for stage in ("prepare", "sft", "grpo"):
        run.stage(stage)
        run.seal(stage)
    assert main(["join", str(run.folder), "--rank", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == ["sft: waiting for it to begin", "grpo: waiting for it to begin"]
