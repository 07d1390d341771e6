"""`rl-gym baseline`: recorded answers judged on the real anchor, the page, and every mistake in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rl_gym.cli.main import main
from rl_gym.gym import records
from rl_gym.iac.environment import make

MANIFEST: dict[str, Any] = {
    "model": "vendor/large[1]",
    "date": "2026-05-31",
    "prompt": "blind",
    "tokens": {"prompt": 300, "completion": 900},
    "prices": {"prompt_million": 3.0, "completion_million": 15.0},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "recorded"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(MANIFEST))
    (folder / "ep0.md").write_text("I would rather not.")
    return folder


def run(data_dir: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"RL_GYM_DATA": str(data_dir), "COLUMNS": "160"}
    command = [sys.executable, "-m", "rl_gym.cli.main", "baseline", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_blind_and_rulebook_on_dev(data_dir: Path, tmp_path: Path) -> None:
    env = make(data=data_dir)
    episodes = env.episodes("dev")[:3]
    for kind in ("blind", "rulebook"):
        folder = tmp_path / "recorded" / kind
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps(MANIFEST | {"prompt": kind}))
        for number, episode in enumerate(episodes):
            (folder / f"ep{number}.md").write_text(env.oracle(episode) if kind == "rulebook" else "no")
    prices = ("--gpu-hour", "2.4", "--own-requests-per-hour", "1000")
    out = ("--page", tmp_path / "page.html", "--out", tmp_path / "out")
    done = run(data_dir, "score", tmp_path / "recorded", *prices, *out)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Recorded on dev: 120 episodes" in done.stdout
    assert "vendor/large[1] (blind): 117 episodes are not recorded: ep3, ep4" in done.stdout
    assert "vendor/large[1]: the rulebook adds +" in done.stdout
    assert "(3 common episodes)" in done.stdout
    assert "vendor/large[1] (blind): above 12,000 requests a day, of the 24,000" in done.stdout
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    rows = records.read(tmp_path / "out" / "completions.jsonl")
    assert [(row.policy, row.episode_id) for row in rows[:3]] == [
        ("vendor/large[1] (blind)", episode.id) for episode in episodes
    ]
    figures = json.loads((tmp_path / "out" / "baseline.json").read_text())
    assert figures["rows"][0]["usd_per_request"] == pytest.approx(0.0048)


def test_the_prompts_to_be_answered(data_dir: Path, tmp_path: Path) -> None:
    env = make(data=data_dir)
    for name, more in (("blind", ()), ("rulebook", ("--rulebook",))):
        done = run(data_dir, "prompts", tmp_path / name, *more)
        assert (done.returncode, done.stderr) == (0, "")
    asked = [env.prompt(episode) for episode in env.episodes("dev")]
    assert [(tmp_path / "blind" / f"ep{number}.txt").read_text() for number in range(120)] == asked
    ruled = (tmp_path / "rulebook" / "ep7.txt").read_text()
    assert ruled.startswith("Rules for secure Terraform")
    assert ruled.endswith(asked[7])


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--prompt-million", "3"], "--prompt-million and --completion-million are given together"),
        (["--prompt-million", "-3", "--completion-million", "1"], "prices: prompt_million: Input should be greater"),
        (["--prompt-million", "nan", "--completion-million", "1"], "prices: prompt_million: Input should be a finite"),
        (["--own-requests-per-hour", "3"], "--own-requests-per-hour is of the GPU whose price --gpu-hour tells"),
        (["--gpu-hour", "nan"], "an hour of a GPU costs 0 or more US dollars, not nan"),
        (["--gpu-hour", "1", "--own-requests-per-hour", "0"], "a GPU answers more than 0 requests an hour, not 0"),
        (["--gpu-hour", "x"], "Invalid value for '--gpu-hour'"),
        (["--ruleset", "seed19"], "there is no ruleset 'seed19'"),
        (["--profile", "gentle"], "gentle"),
    ],
)
def test_wrong_options_are_one_line(
    more: list[str], complaint: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["baseline", "score", str(folder), *more]) == 1
    assert_one_line(capsys, complaint)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("ep120.md", "", "ep120.md: there is no episode 120, they are 0 to 119"),
        ("notes.txt", "", "notes.txt: neither manifest.json nor epN.md"),
        ("ep1.md", "a" * (10 << 20), "ep1.md: larger than 1 MiB"),
        ("manifest.json", "{}", "manifest.json: model: Field required"),
        ("manifest.json", "{", "manifest.json:1:2: not JSON"),
    ],
)
def test_a_wrong_folder_is_one_line_with_its_file(
    name: str, content: str, complaint: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_text(content)
    assert main(["baseline", "score", str(folder)]) == 1
    assert_one_line(capsys, f"{folder}/{complaint}")


def test_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "score", str(tmp_path / "nowhere")]) == 1
    assert_one_line(capsys, "nowhere: no such folder")


def test_prompts_overwrite_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "prompts", str(folder)]) == 1
    assert_one_line(capsys, "recorded: not an empty folder; name a new one")


def assert_one_line(capsys: pytest.CaptureFixture[str], complaint: str) -> None:
    error = capsys.readouterr().err
    assert complaint in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1
