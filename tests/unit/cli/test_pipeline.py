"""`rl-gym pipeline`: what it refuses, and that it prints what a run found. tests/e2e runs it for real."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tokenizers")

from rl_gym.cli.main import main
from rl_gym.training.run import Run


@pytest.fixture(autouse=True)
def wide_and_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    monkeypatch.delenv("RL_GYM_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_run_is_named_after_its_preset_and_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", "--preset", "micro", "--seed", "4", "--until", "prepare"]) == 0
    [folder] = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("micro-seed4-")
    assert Run.open(folder).stands("prepare")
    assert f"files: runs/{folder.name}/" in capsys.readouterr().out


def test_what_a_run_found_is_printed(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", "--resume", str(run_folder), "--until", "audit"]) == 0
    out = capsys.readouterr().out
    assert "Ladder on dev: 192 held-out episodes" in out
    assert "Audit of grpo against sft" in out
    assert main(["pipeline", "--resume", str(run_folder)]) == 0
    assert "gate: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--preset", "nanno"), "no preset 'nanno'; did you mean 'nano'?"),
        (("--set", "grpo.stepz=1"), "unknown key 'grpo.stepz'; did you mean 'grpo.steps'?"),
        (("--resume", "x", "--seed", "1"), "--resume goes on with what the run was made with"),
        (("--resume", "x"), "x: no run there"),
        (("--preset", "micro", "--until", "gates"), "there is no stage 'gates'"),
        (("--preset", "micro", "--set", "model.base=gpt"), "no model 'gpt'"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", *arguments]) == 1
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--until", "gates"), "there is no stage 'gates'"),
        (
            ("--set", "evaluate.policies=['base','sft']"),
            "evaluate.policies leaves out grpo, which stage audit",
        ),
        (("--set", "evaluate.anchor=nope"), "evaluate.anchor: iac has no split 'nope'"),
        (("--mode", "drift", "--set", "drift.before=nope"), "drift.before: there is no ruleset 'nope'"),
    ],
)
def test_no_folder_is_made_of_a_run_that_cannot_end_well(
    arguments: tuple[str, ...], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", "--preset", "micro", *arguments]) == 1
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_to_end_earlier_does_not_go_on_to_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--set", "evaluate.policies=['random','oracle']", "--run", str(tmp_path / "run"))
    assert main(["pipeline", "--preset", "micro", *few, "--until", "prepare"]) == 0
    assert main(["pipeline", "--resume", str(tmp_path / "run")]) == 1
    assert "evaluate.policies leaves out sft and grpo" in capsys.readouterr().err
    assert not (tmp_path / "run" / "sft").exists()


@pytest.mark.parametrize("damage", ["run.json", "evaluate/manifest.json", "evaluate/completions.jsonl"])
def test_a_corrupt_run_is_one_line(run_folder: Path, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    (run_folder / damage).write_bytes(b"\x00{")
    assert main(["pipeline", "--resume", str(run_folder)]) == 1
    error = capsys.readouterr().err
    assert damage.rpartition("/")[2] in error
    assert error.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line(
    run_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        with open("/dev/full", "wb", buffering=0) as stream:
            stream.write(b"x")

    monkeypatch.setattr("rl_gym.gym.files.os.fsync", full)
    assert main(["pipeline", "--resume", str(run_folder)]) == 1
    error = capsys.readouterr().err
    assert "could not be written: No space left on device" in error
    assert error.count("\n") == 1
