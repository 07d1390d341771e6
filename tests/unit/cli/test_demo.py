"""`rl-gym demo`: recorded episodes without a model, requests with one, and mistakes in one line."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rl_gym.cli.answers import PROFILE, RULESET
from rl_gym.cli.demo_canned import canned_episodes
from rl_gym.cli.main import main
from rl_gym.iac.prompts import parse_completion
from rl_gym.iac.scan import score

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


@pytest.fixture(autouse=True)
def wide_and_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wide terminal, and a working directory without runs."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("RL_GYM_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["demo", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("number", range(1, 11))
def test_each_recorded_episode_is_shown(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    episode = canned_episodes()[number - 1]
    out = said(capsys, "--canned", "--episode", str(number))
    assert f"{number}. {episode.title}" in out
    assert episode.request in out
    assert all(answer.by in out for answer in episode.answers)
    assert out.count("reward    ") == len(episode.answers)


def test_there_are_ten_and_each_ends_better_than_it_began() -> None:
    episodes = canned_episodes()
    assert len(episodes) == 10
    for episode in episodes:
        rewards = [
            score(
                parse_completion(answer.completion) or "", required=episode.required, ruleset=RULESET, profile=PROFILE
            ).reward
            for answer in episode.answers
        ]
        assert rewards[-1] == 1.0
        assert rewards[0] < rewards[-1]


def test_a_hardcoded_secret_zeroes_the_reward(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "--canned", "--episode", "3")
    assert "✘ hardcoded_secret critical" in out
    assert "✘ no_critical" in out
    assert "0.000" in out
    assert "1.000" in out


def test_a_narrow_terminal_shows_one_below_the_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = said(capsys, "--canned")
    assert out.index("first pass") < out.index("reward    ") < out.index("after repair")


def test_a_recorded_episode_needs_no_model() -> None:
    program = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = sys.modules["trl"] = sys.modules["scipy"] = None
from rl_gym.cli.main import main
sys.exit(main(["demo", "--canned", "--episode", "2"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "sg_world_admin" in done.stdout


def test_the_module_of_the_environment_is_the_same_command() -> None:
    command = [sys.executable, "-m", "rl_gym.iac.demo", "--canned", "--episode", "11"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: there is no recorded episode 11: choose 1 to 10\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "choose one: `demo --train`"),
        (("--train", "--canned"), "choose one"),
        (("--canned", "--episode", "0"), "there is no recorded episode 0: choose 1 to 10"),
        (("--req", " "), "--req takes 1 to 4000 characters, not 0"),
        (("--req", "x" * 5000), "--req takes 1 to 4000 characters, not 5000"),
        (("--req", "x", "--required", "s3 bucket"), "--required takes types such as aws_s3_bucket"),
        pytest.param(("--req", "x", "--run", "nowhere"), "nowhere: no run there", marks=needs_torch),
        (("--train", "--preset", "nanno"), "did you mean 'nano'?"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", *arguments]) == 1
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


def test_a_request_is_answered_by_base_and_trained_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    out = said(capsys, "--req", "aws_s3_bucket named atlas-media")
    assert "required  aws_s3_bucket" in out
    assert "trained: the packaged model" in out
    assert out.count('resource "aws_s3_bucket"') == 2
    assert out.count("reward    ") == 2
    assert out == said(capsys, "--req", "aws_s3_bucket named atlas-media", "--required", "aws_s3_bucket")
