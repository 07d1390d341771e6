"""`rl-gym rescore` over a run and over files."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from rl_gym.cli.main import main
from rl_gym.gym import records
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.gym.registry import get_env

JUDGE = ("--ruleset", "base", "--profile", "default@2")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")


@pytest.fixture
def evaluated(tmp_path: Path) -> Path:
    """A run whose held-out episodes were answered by chance and by the oracle."""
    from rl_gym.training.config import resolve
    from rl_gym.training.files import write_rows
    from rl_gym.training.run import Run

    run = Run.create(tmp_path / "run", resolve("micro"), now=datetime(2025, 1, 1), digests={})
    env = get_env("iac", ruleset="seed18", profile="default@1")
    episodes = env.episodes("synthetic")[:12]
    write_rows(run.stage("prepare") / "held_out.jsonl", [episode.to_dict() for episode in episodes])
    for stage in ("prepare", "sft", "grpo"):
        run.stage(stage)
        run.seal(stage)
    found = [
        record
        for policy in ("random", "oracle")
        for record in evaluate_reference(env, episodes, policy, getattr(env, policy), split="synthetic")
    ]
    records.write(run.stage("evaluate") / "completions.jsonl", found)
    run.seal("evaluate")
    return run.folder


def test_a_run_is_judged_again_beside_what_it_recorded(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (evaluated / "evaluate" / "completions.jsonl").read_bytes()
    assert main(["rescore", str(evaluated), *JUDGE]) == 0
    out = capsys.readouterr().out
    first = records.read(evaluated / "evaluate" / "completions.jsonl")
    again = records.read(evaluated / "rescored" / "base-default@2.jsonl")
    digests = first[0].breakdown.digest, again[0].breakdown.digest
    assert f"before, judged by iac:{digests[0]}" in out
    assert f"after, judged by iac:{digests[1]}" in out
    assert "after - before, sampled reward" in out
    assert "are different measures, and their scores are not comparable" in out
    assert (evaluated / "evaluate" / "completions.jsonl").read_bytes() == before
    assert [r.completion for r in again] == [r.completion for r in first]
    assert main(["pipeline", "--resume", str(evaluated), "--until", "evaluate"]) == 0


def test_a_file_alone_takes_its_episodes_from_the_split(
    evaluated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.jsonl"
    records.write(path, records.read(evaluated / "evaluate" / "completions.jsonl"))
    assert main(["rescore", str(path), *JUDGE, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["comparable"] is False
    assert [change["policy"] for change in document["changes"]] == ["random", "oracle"]
    assert document["records"] == str(tmp_path / "old-base-default@2.jsonl")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["RUN"], "name what to judge by: --ruleset, --profile, or --option KEY=VALUE"),
        (["RUN", "--ruleset", "bass"], "'bass'"),
        (["RUN", "--option", "colour=red"], "colour"),
        (["absent.jsonl", *JUDGE], "absent.jsonl: no such file"),
        (["FILE", *JUDGE, "--output", "FILE"], "holds the records that were read: name another file by --output"),
    ],
)
def test_a_mistake_is_one_line(
    evaluated: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    places = {"RUN": str(evaluated), "FILE": str(evaluated / "evaluate" / "completions.jsonl")}
    assert main(["rescore", *(places.get(word, word) for word in arguments)]) == 1
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1
