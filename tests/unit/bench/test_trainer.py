"""`bench/trainer.py`: what it prints of its measurements, and that it measures for real on `micro`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.trainer import Step, Training, told
from rl_gym.serving.weights import find_model

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "bench/trainer.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_it_tells_ratios_of_the_very_same_steps() -> None:
    http = Training(20.0, [Step(2.2, 0.11, 1.0, 100), Step(4.0, 0.04, 2.0, 300), Step(3.0, 0.03, 1.0, 100)])
    steps = [
        Step(2.0, 0.02, 1.0, 100, plain=0.5, plain_tokens=100),
        Step(4.0, 0.2, 2.0, 300, plain=2.0, plain_tokens=300),
        Step(2.0, 0.02, 1.0, 100, plain=1.0, plain_tokens=200),
    ]
    lines = [" ".join(line.split()) for line in told(http, Training(21.0, steps))]
    assert "HTTP / in process 1.000 / 1.100 / 1.500 (goal: median 1.05)" in lines
    assert "share of rewards over HTTP 1.000 / 1.000 / 5.000 % (goal: median 5%)" in lines
    assert "over HTTP 20.0 s, in process 21.0 s" in lines
    assert "GRPO by TRL 100 / 100 / 150" in lines
    assert "Hugging Face generate 150 / 200 / 200" in lines
    assert "TRL / Hugging Face 0.500 / 0.500 / 1.000" in lines


def test_it_needs_a_step_after_the_warm_up() -> None:
    done = run("--steps", "1")
    assert done.returncode == 2
    assert "--steps must be 2 or more" in done.stderr


@pytest.mark.slow
def test_it_measures_two_trainings_side_by_side() -> None:
    pytest.importorskip("trl", reason="the extra train is not installed")
    pytest.importorskip("fastapi", reason="the extra services is not installed")
    done = run("--preset", "micro", "--model", "nano-base", "--steps", "3")
    assert done.returncode == 0, done.stderr
    assert "GRPO step, 2 steps of each, the same tokens in both" in done.stdout
    assert done.stdout.count("/s, minimum / median / maximum") == 1
    assert len([line for line in done.stdout.splitlines() if line.count(" / ") >= 2]) == 10


def test_a_model_that_is_not_there_is_told_in_one_line() -> None:
    done = run("--preset", "micro", "--model", "nowhere/at-all", "--steps", "3")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_training_that_fails_is_told_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra train is not installed")
    pytest.importorskip("fastapi", reason="the extra services is not installed")
    broken = shutil.copytree(find_model("nano-base"), tmp_path / "broken")
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps({**config, "hidden_size": 2 * config["hidden_size"]}))
    done = run("--preset", "micro", "--model", str(broken), "--steps", "3")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: http failed: ")
    assert "Traceback" not in done.stderr
