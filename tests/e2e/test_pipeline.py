"""The whole ladder for real, in miniature: TRL in children, a killed training that goes on, the demo's output.

Preset micro teaches nothing: what is under test is the machinery.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

from rl_gym.infra.digests import tree_digest
from rl_gym.training.files import read_rows
from rl_gym.training.run import Run

SHORT = ("--set", "episodes.held_out=4", "--set", "evaluate.samples=1", "--set", "grpo.steps=3")


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rl_gym.cli.main", *arguments]
    environment = os.environ | {"RL_GYM_RUNS": str(folder), "COLUMNS": "160", "NO_COLOR": "1"}
    return subprocess.Popen(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run of the demo, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    run = folder / "whole"
    code, out, err = finish(start(folder, "demo", "--train", "--preset", "micro", "--run", str(run), *SHORT))
    assert (code, err) == (0, "")
    return run, out


def test_the_demo_shows_a_scorecard_the_ladder_the_audit_the_verdict_and_terraform(
    demonstrated: tuple[Path, str],
) -> None:
    _, out = demonstrated
    parts = ["s3_block_public", "Ladder on synthetic", "Audit of grpo", "gate: ", "zephyr-orders", "files of this run"]
    positions = [out.index(part) for part in parts]
    assert positions == sorted(positions)
    for policy in ("random", "base", "sft", "grpo", "oracle"):
        assert re.search(rf"^{policy} +\d+ ", out, re.MULTILINE)
    assert 'resource "aws_' in out[positions[-2] :]
    assert "Traceback" not in out


def test_the_run_is_whole_and_names_what_made_it(demonstrated: tuple[Path, str]) -> None:
    run = Run.open(demonstrated[0])
    assert all(run.stands(stage) for stage in run.stages if stage != "promote")
    document = json.loads((run.folder / "run.json").read_text())
    assert {"torch", "trl", "peft", "transformers"} <= document["versions"].keys()
    completions = read_rows(run.folder / "evaluate" / "completions.jsonl")
    models = {row["policy"]: row["model"] for row in completions}
    assert models["base"] == document["digests"]["base"]
    assert models["grpo"] == tree_digest(run.folder / "grpo" / "model")
    assert len({models["base"], models["sft"], models["grpo"]}) == 3
    assert (run.folder / "grpo" / "adapter" / "adapter_model.safetensors").is_file()


def test_every_step_is_logged(demonstrated: tuple[Path, str]) -> None:
    rows = {stage: read_rows(Run.open(demonstrated[0]).metrics(stage)) for stage in ("sft", "grpo")}
    assert {row["step"] for row in rows["sft"]} == {1, 2}
    assert {row["step"] for row in rows["grpo"]} == {1, 2, 3}
    assert all("frac_reward_zero_std" in row for row in rows["grpo"] if "reward" in row)
    assert (demonstrated[0] / "log.txt").stat().st_size > 0


def test_a_killed_training_goes_on_and_ends_where_it_would_have(demonstrated: tuple[Path, str], tmp_path: Path) -> None:
    """Ctrl-C after the first checkpoint of GRPO, then --resume: the same weights, to the bit."""
    whole, run = demonstrated[0], tmp_path / "interrupted"
    shutil.copytree(whole, run, ignore=lambda _, names: set(names) & {"grpo", "evaluate", "audit", "gate"})
    process = start(tmp_path, "pipeline", "--resume", str(run))
    assert wait_for(process, lambda: any((run / "grpo" / "checkpoints").glob("checkpoint-*/complete.json")))
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert err == f"interrupted: {run} is kept; go on with `rl-gym pipeline --resume {run}`\n"
    assert not Run.open(run).ended("grpo")

    code, out, err = finish(start(tmp_path, "pipeline", "--resume", str(run), "--until", "grpo"))
    assert (code, err) == (0, "")
    rows = [row for row in read_rows(Run.open(run).metrics("grpo")) if "reward" in row]
    assert [row["step"] for row in rows] == [1, 2, 3]
    assert tree_digest(run / "grpo" / "model") == tree_digest(whole / "grpo" / "model")
    assert "files: " in out


def test_the_last_run_answers_a_request(demonstrated: tuple[Path, str]) -> None:
    run = demonstrated[0]
    request = ("demo", "--req", "a bucket called atlas-media", "--required", "aws_s3_bucket")
    code, out, err = finish(start(run.parent, *request))
    assert (code, err) == (0, "")
    assert "base" in out
    assert f"trained: run {run}" in out
    assert out.count("reward") >= 2


def test_a_child_that_crashes_is_one_line(demonstrated: tuple[Path, str], tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(demonstrated[0], run)
    data = run / "prepare" / "sft.jsonl"
    data.write_text("no JSON\n")
    Run.open(run).seal("prepare")
    (run / "log.txt").unlink()
    code, _, err = finish(start(tmp_path, "pipeline", "--resume", str(run)))
    assert code == 1
    assert err.startswith(f"error: sft failed: {data}:1: no JSON")
    assert err.count("\n") == 1
    assert "Traceback" in (run / "log.txt").read_text()


def wait_for(process: subprocess.Popen[str], happened: Any) -> bool:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        if happened():
            return True
        time.sleep(0.02)
    return False
