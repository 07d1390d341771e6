"""Run folders: what stands is skipped, what was damaged is refused in one line."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, UsageError
from rl_gym.training.config import resolve
from rl_gym.training.run import Run, latest_run

NOW = datetime(2025, 1, 2, 3, 4, 5)


def make(folder: Path) -> Run:
    return Run.create(folder, resolve("micro", seed=3), now=NOW, digests={"base": "abc"})


def end(run: Run, stage: str, text: str = "written") -> Path:
    path = run.stage(stage) / "file.txt"
    path.write_text(text)
    run.seal(stage)
    return path


def test_a_run_keeps_its_configuration_versions_seed_and_digests(tmp_path: Path) -> None:
    run = make(tmp_path / "r")
    document = json.loads((run.folder / "run.json").read_text())
    assert document["id"] == "r"
    assert document["seed"] == 3
    assert document["digests"] == {"base": "abc"}
    assert document["created"] == "2025-01-02T03:04:05"
    assert document["versions"]["rl-gym"]
    assert Run.open(run.folder).config == run.config


def test_a_folder_takes_one_run(tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(ConflictError, match="holds a run already"):
        make(tmp_path)


def test_a_stage_stands_once_it_is_sealed(tmp_path: Path) -> None:
    run = make(tmp_path)
    assert not run.stands("prepare")
    run.stage("prepare")
    assert not run.stands("prepare")
    end(run, "prepare")
    assert run.stands("prepare")
    assert run.ended("prepare")


def test_a_stage_falls_with_the_one_it_read(tmp_path: Path) -> None:
    run = make(tmp_path)
    end(run, "prepare")
    end(run, "sft")
    assert run.stands("sft")
    end(run, "prepare", "other data")
    assert not run.stands("sft")


def test_require_says_how_to_go_on(tmp_path: Path) -> None:
    run = make(tmp_path)
    with pytest.raises(NotFoundError, match=r"'grpo' has not ended: `rl-gym pipeline --resume"):
        run.require("grpo")


@pytest.mark.parametrize("damage", ["change", "remove"])
def test_a_file_that_changed_after_its_stage_ended_is_refused(tmp_path: Path, damage: str) -> None:
    run = make(tmp_path)
    path = end(run, "prepare")
    path.write_text("tampered") if damage == "change" else path.unlink()
    with pytest.raises(UsageError, match=rf"file\.txt is .*; delete {tmp_path}/prepare to run that stage again"):
        run.stands("prepare")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 3}', "\x00", '{"stage": "prepare"}'])
def test_a_damaged_manifest_is_refused(tmp_path: Path, text: str) -> None:
    run = make(tmp_path)
    end(run, "prepare")
    (tmp_path / "prepare" / "manifest.json").write_text(text)
    with pytest.raises(UsageError, match=r"manifest\.json is damaged"):
        run.stands("prepare")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"config": 3}', '{"config": {"preset": "nano"}}'])
def test_a_damaged_run_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError) as raised:
        Run.open(tmp_path)
    assert "run.json" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no run there"):
        Run.open(tmp_path)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    run = make(tmp_path)
    with run.lock(), pytest.raises(ConflictError, match="another process"), run.lock():
        pass
    with run.lock():
        pass


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InfrastructureError, match="could not be written"):
        make(tmp_path / "file" / "run")


def test_the_latest_run_is_the_one_whose_stage_ended_last(tmp_path: Path) -> None:
    assert latest_run(tmp_path, stage="grpo") is None
    first, second, third = (make(tmp_path / name) for name in ("b", "a", "c"))
    end(first, "grpo")
    end(second, "grpo")
    end(third, "sft")
    (second.folder / "grpo" / "manifest.json").touch()
    found = latest_run(tmp_path, stage="grpo")
    assert found is not None
    assert found.folder == second.folder
