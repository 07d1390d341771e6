"""Checkpoints: the newest whole one is gone on with, damage is told, and what was cut off is passed over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rl_gym.training import checkpoints

FILES = ("adapter_model.safetensors", "optimizer.pt", "trainer_state.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three checkpoints, whole and marked; steps 5, 10 and 20."""
    for step in (5, 10, 20):
        checkpoint = tmp_path / f"checkpoint-{step}"
        checkpoint.mkdir()
        for name in FILES:
            (checkpoint / name).write_text(f"{name} of {step}")
        checkpoints.mark(checkpoint)
    return tmp_path


def found(folder: Path) -> tuple[int | None, list[str]]:
    warnings: list[str] = []
    checkpoint = checkpoints.newest(folder, warnings.append)
    return checkpoint and checkpoints.step_of(checkpoint), warnings


def test_the_newest_by_step_not_by_name(folder: Path) -> None:
    assert found(folder) == (20, [])


def test_none_where_there_is_none(tmp_path: Path) -> None:
    assert found(tmp_path) == (None, [])
    assert found(tmp_path / "absent") == (None, [])


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(path.read_bytes()[:-1]), Path.unlink])
def test_a_file_that_was_cut_or_lost_is_damage(folder: Path, damage: Callable[[Path], object], file: str) -> None:
    damage(folder / "checkpoint-20" / file)
    assert found(folder) == (10, [f"{folder}/checkpoint-20 is passed over: {file} is damaged"])


def test_where_all_are_damaged_the_training_starts_anew_and_says_so(folder: Path) -> None:
    for step, name in zip((5, 10, 20), FILES, strict=True):
        (folder / f"checkpoint-{step}" / name).unlink()
    step, warnings = found(folder)
    assert step is None
    assert len(warnings) == 4
    assert warnings[-1] == "no checkpoint is whole: the training starts anew"


@pytest.mark.parametrize(
    ("damage", "file"),
    [
        (lambda checkpoint: (checkpoint / "optimizer.pt").write_text("other"), "optimizer.pt"),
        (lambda checkpoint: (checkpoint / "complete.json").write_text("{"), "complete.json"),
    ],
)
def test_a_damaged_one_is_passed_over_and_told(folder: Path, damage: Callable[[Path], object], file: str) -> None:
    damage(folder / "checkpoint-20")
    assert found(folder) == (10, [f"{folder}/checkpoint-20 is passed over: {file} is damaged"])


def test_one_that_was_cut_off_is_no_damage(folder: Path) -> None:
    (folder / "checkpoint-20" / "complete.json").unlink()
    assert found(folder) == (10, [])
