"""`bench/trainer.py`: what it prints of its measurements, and that it measures for real on `micro`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bench.trainer
from bench.trainer import Child, Step, Training, told
from rl_gym.serving.weights import find_model

ROOT = Path(__file__).resolve().parents[3]

PACED = """
import json, os, sys

job = json.loads(open(sys.argv[1]).read())
pace = os.open(job["pace"], os.O_RDONLY)
print(json.dumps({"job": "pid", "done": os.getpid(), "total": 1}), flush=True)
while os.read(pace, 1):
    if job["fails"]:
        raise SystemExit(3)
    metrics = {"seconds": 1.0, "rewards": 0.1, "generation": 0.5, "tokens": 10}
    print(json.dumps({"job": "bench", "step": 1, "metrics": metrics}), flush=True)
"""
"""A training in which nothing is trained: it takes a step when it is told to, or fails at its first one."""


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


@pytest.fixture
def paced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "paced.py"
    script.write_text(PACED)
    monkeypatch.setattr("rl_gym.training.supervise.CHILD", (str(script),))


@pytest.fixture
def stopped() -> Iterator[list[int]]:
    """Processes that must be gone by the end of a test."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def started(child: Child) -> int:
    """The process of a child that waits for its first step."""
    child._thread.start()
    told = child._heard.get(timeout=60)
    assert isinstance(told, dict)
    return int(told["done"])


@pytest.mark.usefixtures("paced")
def test_one_that_waits_and_one_that_failed_are_gone_once_stopped(tmp_path: Path, stopped: list[int]) -> None:
    waits, fails = (Child(tmp_path / str(bad), {"fails": bad}) for bad in (False, True))
    try:
        stopped.extend([started(waits), started(fails)])
        assert waits.step().tokens == 10
        with pytest.raises(SystemExit, match=r"^error: True: its process ended with exit code 3; see "):
            fails.step()
    finally:
        waits.stop()
        fails.stop()


@pytest.mark.usefixtures("paced")
def test_a_training_that_takes_no_step_is_told_in_one_line(
    tmp_path: Path, stopped: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.trainer, "STEP_SECONDS", 0.2)
    child = Child(tmp_path / "http", {"fails": False})
    try:
        stopped.append(started(child))
        with pytest.raises(SystemExit, match=r"^error: the training http took no step within 0\.2 s$"):
            child._next()
    finally:
        child.stop()
