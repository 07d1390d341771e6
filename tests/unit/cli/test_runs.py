"""`rl-gym runs compare`."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rl_gym.cli.main import main
from rl_gym.gym import records
from rl_gym.training.collapse import Alarm, write_alarms
from rl_gym.training.config import resolve
from rl_gym.training.run import Run


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")


@pytest.fixture
def pair(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """A run, audited and decided, and another whose GRPO model learnt nothing beyond SFT."""
    other = run_folder.with_name("other")
    shutil.copytree(run_folder, other)
    document = json.loads((other / "run.json").read_text())
    document["config"]["grpo"]["beta"] = 0.04
    document["config"]["seed"] = 7
    (other / "run.json").write_text(json.dumps(document))
    found = records.read(other / "evaluate" / "completions.jsonl")
    kept = [r for r in found if r.policy != "grpo"]
    stuck = [r.model_copy(update={"policy": "grpo"}) for r in found if r.policy == "sft"]
    records.write(other / "evaluate" / "completions.jsonl", [*kept, *stuck])
    Run.open(other).seal("evaluate")
    assert main(["pipeline", "--resume", str(run_folder)]) == 0
    capsys.readouterr()
    return str(run_folder), str(other)


def test_two_runs_side_by_side(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "compare", *pair]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^grpo\.beta +0\.0 +0\.04", out, re.MULTILINE)
    assert re.search(r"^seed +0 +7", out, re.MULTILINE)
    assert "grpo.steps" not in out
    assert re.search(r"^sft +0\.\d+ +0\.\d+ +\+0\.000 ", out, re.MULTILINE)
    assert re.search(r"^grpo +1\.000 +0\.\d+ +-0\.\d+ ", out, re.MULTILINE)
    assert "sft -> grpo" in out
    assert re.search(r"^gate +PROMOTE +-", out, re.MULTILINE)


def test_the_same_as_json(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "compare", *pair, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["differs"] == {"grpo.beta": ["0.0", "0.04"], "seed": ["0", "7"]}
    assert document["incomparable"] == ""
    change = {row["policy"]: row["reward"] for row in document["differences"]}
    assert change["grpo"]["high"] < 0 == change["oracle"]["estimate"]
    assert [verdict["decision"] for verdict in document["verdicts"]] == ["PROMOTE", "-"]


def test_alarms_are_those_of_the_stage_that_made_the_candidate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alarm = Alarm(what="entropy", step=3, mean=0.001, threshold=0.01, reward=0.2, values=[0.001])
    made = []
    for mode, stages in (
        ("drift", ("prepare", "update")),
        ("pipeline", ("prepare", "sft", "grpo")),
        ("eval-only", ("prepare",)),
    ):
        config = resolve("nano", ["update.method=grpo"], mode=mode)
        run = Run.create(tmp_path / mode, config, now=datetime(2024, 1, 1, tzinfo=UTC), digests={})
        for stage in stages:
            if stage in ("update", "grpo"):
                write_alarms(run.stage(stage), [alarm])
            run.seal(stage)
        made.append(str(run.folder))
    alarms = []
    for other in made[1:]:
        assert main(["runs", "compare", made[0], other, "--json"]) == 0
        alarms.append(json.loads(capsys.readouterr().out)["training_alarms"])
    assert alarms == [[[str(alarm)], [str(alarm)]], [[str(alarm)], []]]


def test_rewards_of_other_judges_are_never_subtracted(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(pair[1]) / "evaluate" / "completions.jsonl"
    path.write_text(path.read_text().replace(records.read(path)[0].breakdown.digest, "0" * 12))
    Run.open(Path(pair[1])).seal("evaluate")
    assert main(["runs", "compare", *pair]) == 0
    assert "no B - A: these rewards are not comparable, they were decided by" in capsys.readouterr().out


def test_a_run_that_is_not_evaluated_has_nothing_to_compare(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    Run.open(Path(pair[1])).clear("evaluate")
    assert main(["runs", "compare", *pair]) == 0
    assert "no B - A: not both are evaluated" in capsys.readouterr().out


def test_no_run_is_one_line(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "compare", str(run_folder), "nowhere"]) == 1
    assert "nowhere: no run there" in capsys.readouterr().err
