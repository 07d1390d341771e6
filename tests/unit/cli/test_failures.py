"""What goes wrong at the command line, verb by verb: one line, the right code, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rl_gym.cli.main import VERBS, exit_codes, main

MISTAKES: list[tuple[list[str], int, str]] = [
    (["pipeline", "--preset", "nanu"], 1, "no preset 'nanu'; did you mean 'nano'?"),
    (["pipeline", "--set", "grpo.stepz=3"], 1, "unknown key 'grpo.stepz'; did you mean 'grpo.steps'?"),
    (["pipeline", "--set", "grpo.steps=many"], 1, "grpo.steps"),
    (["pipeline", "--preset", "micro", "--set", "model.base=nowhere"], 1, "no model 'nowhere'"),
    (["pipeline", "--preset", "micro", "--set", "environment.name=iacs"], 1, "unknown environment 'iacs'"),
    (["pipeline", "--resume", "nowhere"], 1, "nowhere"),
    (["eval", "nowhere"], 1, "nowhere: no run there"),
    (["eval", "--anchor", "prod"], 1, "prod"),
    (["demo"], 1, "choose one"),
    (["demo", "--canned", "--episode", "99"], 1, "99"),
    (["env", "check", "nowhere"], 1, "unknown environment 'nowhere'"),
    (["audit", "nowhere"], 1, "nowhere: no such"),
    (["gate", "nowhere"], 1, "nowhere: no such"),
    (["scan", "nowhere"], 2, "nowhere"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), MISTAKES)
def test_a_mistake_is_one_line(
    arguments: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == code
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: ")
    assert said in complaint
    assert complaint.count("\n") == 1
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_option_is_one_line(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--no-such-option", "x"]) == exit_codes(verb).usage
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: ")
    assert "--no-such-option" in complaint
    assert complaint.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
def test_a_full_disk_under_the_output_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "aws_ebs_volume" "x" {}\n')
    command = [sys.executable, "-m", "rl_gym.cli.main", "scan", str(tmp_path)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")


def test_a_disk_that_takes_no_more_stops_a_run_in_one_line(tmp_path: Path) -> None:
    program = (
        "import resource\n"
        "from rl_gym.cli.main import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "raise SystemExit(main(['pipeline', '--preset', 'micro', '--until', 'prepare']))\n"
    )
    # Compiled modules would be cut off too, and stay so for whoever imports them next.
    command = [sys.executable, "-B", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_ctrl_c_in_mid_training_keeps_the_run_and_resume_ends_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rl_gym.cli.main", "pipeline"]
    start = [*command, "--preset", "micro", "--set", "grpo.steps=4", "--run", "run", "--until", "grpo"]
    process = subprocess.Popen(start, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    checkpoints = tmp_path / "run" / "grpo" / "checkpoints"
    deadline = time.monotonic() + 600
    while not list(checkpoints.glob("checkpoint-*")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == "interrupted: run is kept; go on with `rl-gym pipeline --resume run`\n"

    trained = (tmp_path / "run" / "sft" / "manifest.json").read_bytes()
    assert not (tmp_path / "run" / "grpo" / "manifest.json").exists()
    resume = [*command, "--resume", "run", "--until", "grpo"]
    done = subprocess.run(resume, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "run" / "grpo" / "manifest.json").exists()
    assert (tmp_path / "run" / "sft" / "manifest.json").read_bytes() == trained
