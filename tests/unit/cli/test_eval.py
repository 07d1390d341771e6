"""`rl-gym eval`: policies on an anchor under several judges, and the evaluation of a run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from rl_gym.cli.main import main
from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.registry import get_env
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.training.anchors import ModelPolicy, evaluate_anchor
from tests.unit.iac.mining.clones import clone, resource


@pytest.fixture(autouse=True)
def wide_and_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    monkeypatch.delenv("RL_GYM_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)


def test_floor_and_ceiling_of_an_anchor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--anchor", "synthetic", "--policies", "random, oracle", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "synthetic under seed@1/seed18: 240 episodes" in out
    assert "synthetic under default@2/base: 240 episodes" in out
    rows = records.read(tmp_path / "synthetic-default@2-base.jsonl")
    by_policy = {p: [r.breakdown.reward for r in rows if r.policy == p] for p in ("random", "oracle")}
    assert set(by_policy["oracle"]) == {1.0}
    assert 0 < sum(by_policy["random"]) / len(by_policy["random"]) < 1
    other = records.read(tmp_path / "synthetic-seed@1-seed18.jsonl")
    assert {row.breakdown.digest for row in rows}.isdisjoint(row.breakdown.digest for row in other)


def test_dev_scores_the_human_reference(data_dir: Path) -> None:
    arguments = ["--anchor", "dev", "--policies", "random,reference", "--judge", "seed@1/seed18"]
    command = [sys.executable, "-m", "rl_gym.cli.main", "eval", *arguments]
    environment = os.environ | {"RL_GYM_DATA": str(data_dir)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "dev under seed@1/seed18: 120 episodes" in done.stdout
    assert re.search(r"^reference +120 ", done.stdout, re.MULTILINE)


def test_what_was_mined_and_held_out_is_an_anchor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = ("aws_glue_catalog_database", "aws_athena_workgroup", "aws_sfn_activity", "aws_xray_group", "aws_iot_thing")
    for kind in kinds:
        module = {"main.tf": resource(kind, name='"x"')}
        clone(tmp_path / "in" / kind, f"https://github.com/ada/{kind}", module)
    out = str(tmp_path / "out")
    assert main(["data", "mine", str(tmp_path / "in"), "--out", out, "--holdout-share", "0.9"]) == 0
    asked = ["eval", "--anchor", "mined-holdout", "--policies", "random,reference", "--judge", "seed@1/seed18"]
    capsys.readouterr()
    assert main([*asked, "--mined", out]) == 0
    assert re.search(r"mined-holdout under seed@1/seed18: \d episodes", capsys.readouterr().out)
    assert main(asked) == 1
    error = capsys.readouterr().err
    assert "--anchor mined-holdout and --mined go together: name the folder that `rl-gym data mine DIR --out" in error
    assert error.count("\n") == 1


class Reader:
    """A backend that reads short prompts alone, and answers how it was asked."""

    def fits(self, prompt: str, sampling: Sampling) -> bool:
        return "long" not in prompt

    def complete(self, prompts: list[str], sampling: Sampling, **_: object) -> list[list[Sample]]:
        assert all("long" not in prompt for prompt in prompts)
        how = "greedy" if sampling.greedy else "sampled"
        return [[Sample(f"{how} {number}", 2, "stop") for number in range(sampling.n)] for _ in prompts]


def test_a_model_answers_once_for_every_judge_and_nothing_to_what_it_cannot_read() -> None:
    judges = [get_env("countdown"), get_env("countdown")]
    episodes = [Episode(str(n), text, data=dict(judges[0].episodes("dev")[n].data)) for n, text in enumerate("ab")]
    episodes.append(Episode("2", "a long one", data=dict(judges[0].episodes("dev")[2].data)))
    for judge in judges:
        judge.episodes = lambda split: episodes  # type: ignore[method-assign]
    policy = ModelPolicy("m", Reader(), "digest")  # type: ignore[arg-type]
    first, second = evaluate_anchor(judges, "dev", ["oracle", policy], samples=2, max_tokens=8, seed=0)
    own = [r for r in first if r.policy == "m"]
    assert first == second
    assert [(r.episode_id, r.greedy, r.completion) for r in own if r.episode_id != "2"] == [
        ("0", True, "greedy 0"),
        ("1", True, "greedy 0"),
        ("0", False, "sampled 0"),
        ("0", False, "sampled 1"),
        ("1", False, "sampled 0"),
        ("1", False, "sampled 1"),
    ]
    assert {(r.completion, r.finish_reason, r.completion_tokens) for r in own if r.episode_id == "2"} == {
        ("", "length", 0)
    }


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "name a run folder, or an anchor"),
        (("--anchor", "dev2", "--policies", "random"), "dev2"),
        (("--anchor", "synthetic", "--policies", "random,nano-bass"), "did you mean 'nano-base'"),
        (("--anchor", "synthetic", "--judge", "seed18"), "--judge takes PROFILE/RULESET"),
        (("--anchor", "synthetic", "--judge", "seed@1/seed19"), "seed19"),
        (("nowhere",), "nowhere: no run there"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *arguments]) == 1
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
