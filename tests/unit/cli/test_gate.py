from __future__ import annotations

import json
from pathlib import Path

import pytest

from rl_gym.cli.main import main
from rl_gym.gym import records
from rl_gym.training.collapse import Alarm, write_alarms
from rl_gym.training.run import Run


def test_an_audited_run_is_decided_into_its_folder(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", str(run_folder)]) == 1
    assert f"this run is not audited yet: rl-gym audit {run_folder}" in capsys.readouterr().err
    assert main(["audit", str(run_folder)]) == 0
    assert main(["gate", str(run_folder)]) == 0
    out = capsys.readouterr().out
    assert "PROMOTE\n- every condition holds" in out
    verdict = json.loads((run_folder / "gate" / "verdict.json").read_text())
    report = json.loads((run_folder / "audit" / "report.json").read_text())
    assert (verdict["decision"], verdict["audit_digest"]) == ("PROMOTE", report["digest"])
    assert Run.open(run_folder).stands("gate")


def test_the_training_log_of_the_candidate_is_read(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", str(run_folder)])
    rows = [json.dumps({"frac_reward_zero_std": 1.0, "reward": 0.3})] * 20
    for stage, code in (("sft", 0), ("grpo", 2)):
        (run_folder / stage / "metrics.jsonl").write_text("\n".join(rows) + "\n")
        capsys.readouterr()
        assert main(["gate", str(run_folder)]) == code
    assert "- training alarm: reward variance collapsed" in capsys.readouterr().out


def test_an_alarm_that_stands_beside_the_candidate_blocks(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run.open(run_folder)
    alarm = Alarm(what="unique", step=9, mean=0.01, threshold=0.05, reward=0.4, values=[0.01])
    write_alarms(run.stage("grpo"), [alarm])
    for stage in ("grpo", "evaluate"):
        run.seal(stage)
    main(["audit", str(run_folder)])
    assert main(["gate", str(run_folder)]) == 2
    assert "- training alarm: the completions became one and the same at step 9" in capsys.readouterr().out
    assert main(["pipeline", "--resume", str(run_folder)]) == 0
    assert "ALARM training: the completions became one" in capsys.readouterr().out
    (run_folder / "grpo" / "alarms.json").unlink()
    assert main(["gate", str(run_folder)]) == 1
    assert "alarms.json is missing" in capsys.readouterr().err


def test_a_file_is_audited_and_decided_and_the_verdict_written_where_asked(
    completions_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "verdict.json"
    assert main(["gate", str(completions_file), "--json", "--output", str(output)]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict == json.loads(output.read_text())
    assert verdict["audit_digest"] is not None
    assert verdict["anchors"][0]["episodes"] == 192


def test_a_worse_candidate_is_exit_code_two(completions_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", str(completions_file), "--incumbent", "grpo", "--candidate", "sft"]) == 2
    assert "BLOCK\n- " in capsys.readouterr().out


def test_too_few_episodes_are_exit_code_three(completions_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = completions_file.with_name("few.jsonl")
    records.write(few, [r for r in records.read(completions_file) if r.episode_id < "train-020"])
    assert main(["gate", str(few)]) == 3
    assert "UNDECIDED\n- " in capsys.readouterr().out


def test_incumbent_and_candidate_may_come_from_two_places_under_one_name(
    completions_file: Path, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = records.read(completions_file)
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    records.write(old, [r.model_copy(update={"policy": "grpo"}) for r in everything if r.policy == "sft"])
    records.write(new, [r for r in everything if r.policy != "sft"])
    arguments = ["--incumbent", "grpo", "--require", "superiority=dev", "--json"]
    assert main(["gate", str(old), str(new), *arguments]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["settings"]["require_superiority"] == ["dev"]
    assert verdict["anchors"][0]["reward"]["estimate"] > 0.2
    assert main(["audit", str(run_folder)]) == 0
    assert main(["gate", str(old), str(run_folder), "--incumbent", "grpo"]) == 0
    assert (run_folder / "gate" / "verdict.json").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["absent.jsonl"], "absent.jsonl: no such file"),
        (["FILE", "--incumbent", "base"], "no recorded completions of policy 'base'"),
        (["FILE", "--tolerance", "0"], "tolerance must lie in (0, 1], not 0.0"),
        (["FILE", "--tolerance", "x"], "Invalid value"),
        (["FILE", "--require", "luck"], "--require 'luck': superiority=ANCHOR is needed"),
        (["FILE", "--require", "superiority=holdout"], "superiority is required on 'holdout', the records hold dev"),
        (["FILE", "EMPTY"], "empty.jsonl: no recorded completions in it"),
        (["FILE", "SHORT"], "were not asked the same episodes: 1 "),
        (["FILE", "TWICE"], "stands twice"),
        (["FILE", "OTHER"], "'dev' was answered by the incumbent alone"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_one(
    completions_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    grpo = [r for r in records.read(completions_file) if r.policy == "grpo"]
    places = {name: tmp_path / f"{name.lower()}.jsonl" for name in ("EMPTY", "SHORT", "TWICE", "OTHER")}
    places["EMPTY"].touch()
    records.write(places["SHORT"], grpo[2:])
    records.write(places["TWICE"], [*grpo, grpo[1]])
    records.write(places["OTHER"], [r.model_copy(update={"split": "holdout"}) for r in grpo])
    places["FILE"] = completions_file
    assert main(["gate", *(str(places.get(word, word)) for word in arguments)]) == 1
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1


def test_an_audit_of_another_policy_or_changed_since_is_refused(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["audit", str(run_folder)])
    assert main(["gate", str(run_folder), "--candidate", "oracle"]) == 1
    assert "the audit of 'grpo' is not of the candidate's completions" in capsys.readouterr().err
    report = run_folder / "audit" / "report.json"
    report.write_text(report.read_text().replace('"alarm": false', '"alarm": true', 1))
    assert main(["gate", str(run_folder)]) == 1
    assert "report.json is not what stage 'audit' wrote" in capsys.readouterr().err
