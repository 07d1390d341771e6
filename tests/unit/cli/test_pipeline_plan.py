"""`rl-gym pipeline --dry-run`: the plan on the terminal and as JSON, and that nothing is made or imported for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rl_gym.cli.main import main


@pytest.fixture(autouse=True)
def wide_and_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    monkeypatch.delenv("RL_GYM_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_plan_tells_stages_memory_time_and_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", "--preset", "nano", "--dry-run", "--gpu-hour", "36"]) == 0
    out = capsys.readouterr().out
    assert "nano-base, 1.0 M parameters" in out
    assert "32 a step, every weight, fp32" in out
    assert "optimiser: 8 B x P, AdamW's two moments" in out
    assert "$3.57 at $36.00 an hour" in out
    assert "grpo.steps = 30" in out
    assert list(tmp_path.iterdir()) == []


def test_a_plan_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--preset", "granite-8b", "--model", "nano", "--report-to", "wandb", "--set", "grpo.steps=20"]
    assert main(["pipeline", *arguments, "--dry-run", "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["config"]["model"]["base"], plan["config"]["report_to"]) == ("nano", "wandb")
    assert [stage["steps"] for stage in plan["stages"]] == [0, 250, 20, 0, 0, 0]
    assert plan["stages"][1]["memory"]["total"] > plan["stages"][1]["memory"]["held"][0]["bytes"]
    assert plan["ready"] == all(check["ok"] for check in plan["checks"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--dry-run", "--run", "x"), "--dry-run plans a new run"),
        (("--dry-run", "--format", "yaml"), "--format takes text or json, not 'yaml'"),
        (("--dry-run", "--gpu-hour", "-1"), "--gpu-hour takes dollars an hour"),
        (("--dry-run", "--gpu-hour", "nan"), "--gpu-hour takes dollars an hour"),
        (("--dry-run", "--report-to", "paper"), "key 'report_to'"),
        (("--gpu-hour", "1"), "are about the plan that --dry-run prints"),
        (("--preset", "nano", "--model", "hub:nobody/at-all"), "not among the weights that may be used"),
        (("--preset", "multi-node"), "preset 'multi-node': "),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", *arguments]) == 1
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_plan_imports_no_torch() -> None:
    told = (
        "import sys; from rl_gym.cli.main import main; code = main(['pipeline', '--dry-run']); "
        "sys.exit(code or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", told], capture_output=True).returncode == 0
