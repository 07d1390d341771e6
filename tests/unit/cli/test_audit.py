from __future__ import annotations

import json
from pathlib import Path

import pytest

from rl_gym.cli.main import main
from rl_gym.gym import records
from rl_gym.gym.audit import read_report
from rl_gym.gym.core import Environment, Exploit
from rl_gym.gym.examples.countdown import Countdown
from rl_gym.infra.errors import InfrastructureError
from rl_gym.training.run import Run


def test_a_run_is_audited_into_its_folder(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(run_folder)]) == 0
    out = capsys.readouterr().out
    assert "Audit of grpo against sft" in out
    assert "clean: no metric beyond its threshold" in out
    report = read_report(run_folder / "audit" / "report.json")
    exploits = next(metric for metric in report.metrics if metric.name == "exploits.paid")
    assert (exploits.value, exploits.n) == (0.0, 12)
    assert (run_folder / "audit" / "report.md").read_text().startswith("# Audit of grpo against sft")
    assert Run.open(run_folder).stands("audit")


def test_files_are_audited_and_written_where_asked(
    completions_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = records.read(completions_file)
    parts = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    records.write(parts[0], [r for r in everything if r.policy == "sft"])
    records.write(parts[1], [r for r in everything if r.policy != "sft"])
    output = tmp_path / "out"
    assert main(["audit", *map(str, parts), "--output", str(output), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((output / "report.json").read_text())
    notes = {metric["name"]: metric["note"] for metric in printed["metrics"] if metric["value"] is None}
    assert notes["exploits.paid"] == "the environment was not given"


def test_the_environment_of_a_file_may_be_named(completions_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(completions_file), "--env", "countdown", "--json"]) == 0
    metrics = {metric["name"]: metric for metric in json.loads(capsys.readouterr().out)["metrics"]}
    assert metrics["exploits.paid"]["value"] == 0.0


def test_an_alarm_is_exit_code_two(
    run_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def paid(env: Countdown) -> list[Exploit]:
        episode = env.episodes("dev")[0]
        return [Exploit("gift", episode, env.oracle(episode))]

    monkeypatch.setattr(Countdown, "exploits", paid)
    assert main(["audit", str(run_folder)]) == 2
    assert "ALARM exploits.paid: 1.000, threshold: any" in capsys.readouterr().out


def test_a_fault_of_ours_and_too_few_episodes_are_exit_code_three(
    run_folder: Path, completions_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = completions_file.with_name("few.jsonl")
    records.write(few, [r for r in records.read(completions_file) if r.episode_id < "train-005"])
    assert main(["audit", str(few)]) == 3
    assert "UNDECIDED 5 episodes are too few" in capsys.readouterr().out

    def down(env: Environment) -> list[Exploit]:
        raise InfrastructureError("the verifier is down")

    monkeypatch.setattr(Countdown, "exploits", down)
    assert main(["audit", str(run_folder)]) == 3
    assert capsys.readouterr().err == "error: the verifier is down\n"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["absent.jsonl"], "absent.jsonl: no such file"),
        (["FILE", "--baseline", "base"], "no recorded completions of policy 'base' (there are: sft, grpo, oracle)"),
        (["FILE", "-o", "a=b"], "--option is for the environment that --env names"),
        (["FILE", "--env", "contdown"], "unknown environment 'contdown'"),
        (["RUN", "FILE"], "a run folder is audited alone"),
        ([], "Missing argument"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_one(
    run_folder: Path,
    completions_file: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    why: str,
) -> None:
    places = {"FILE": str(completions_file), "RUN": str(run_folder)}
    assert main(["audit", *(places.get(word, word) for word in arguments)]) == 1
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1


def test_a_corrupt_run_is_one_line(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["audit", str(tmp_path / "empty")]) == 1
    assert "no run" in capsys.readouterr().err
    path = run_folder / "evaluate" / "completions.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert main(["audit", str(run_folder)]) == 1
    error = capsys.readouterr().err
    assert "completions.jsonl" in error
    assert error.count("\n") == 1
    (run_folder / "evaluate" / "manifest.json").unlink()
    assert main(["audit", str(run_folder)]) == 1
    assert "this run is not evaluated yet" in capsys.readouterr().err
