"""What a rollout leaves for RAFT, for GRPO's band and for repair; the child is played by a function here."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

pytest.importorskip("tokenizers")

from rl_gym.gym.core import Episode
from rl_gym.infra.errors import UsageError
from rl_gym.training import stages
from rl_gym.training.config import Config, resolve
from rl_gym.training.files import read_rows, write_rows
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages import jobs
from rl_gym.wire.run import RunMode

CHANGES = ("episodes.sft=8", "episodes.grpo=6", "episodes.held_out=2")
RAFT = ("raft.steps=1", "raft.batch_size=4", "raft.learning_rate=1e-3", "raft.samples=2")


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Has the model answer each prompt once as the oracle and once as the floor, but the first prompt perfectly."""
    kinds: list[str] = []

    def play(asked: Sequence[tuple[Path, Mapping[str, Any]]], **_: Any) -> None:
        for _path, job in asked:
            kinds.append(job["kind"])
            assert job["section"] in ("sft", "raft", "repair")
            if job["kind"] == "rollout":
                write_rows(Path(job["output"]) / "samples.jsonl", samples(job))
            else:
                (Path(job["output"]) / "model").mkdir(parents=True)

    def samples(job: Mapping[str, Any]) -> list[dict[str, Any]]:
        env: Any = jobs.environment(Config.model_validate(job["config"]))
        made = []
        for number, row in enumerate(read_rows(Path(job["data"]))):
            episode = Episode.from_dict(json.loads(row["episode"]))
            for text, reward in ((env.oracle(episode), 1.0), (env.random(episode), 0.4)):
                perfect = number == 0
                made.append(
                    {
                        **row,
                        "completion": env.oracle(episode) if perfect else text,
                        "tokens": 9,
                        "finish_reason": "stop",
                        "reward": 1.0 if perfect else reward,
                    }
                )
        return made

    monkeypatch.setattr(jobs, "run_jobs", play)
    return kinds


def run(folder: Path, mode: RunMode, *changes: str, until: str) -> tuple[Run, str]:
    made = stages.start(resolve("micro", [*CHANGES, *changes], mode=mode), folder, now=datetime(2025, 1, 1))
    said = io.StringIO()
    with RunProgress(Console(file=said, width=200), {}) as progress:
        stages.execute(made, progress, until=until)
    return made, said.getvalue()


def test_raft_keeps_the_best_of_each_prompt_and_measures_pass_rates(tmp_path: Path, given: list[str]) -> None:
    made, said = run(tmp_path / "run", "pipeline", *RAFT, until="raft")
    assert given == ["sft", "rollout", "sft"]
    assert len(read_rows(made.folder / "rollout" / "raft.jsonl")) == 6
    assert sorted(json.loads((made.folder / "rollout" / "rates.json").read_text()).values()) == [0.5] * 5 + [1.0]
    assert "6 of 6 prompts have a whole answer of reward at least 1, and are kept; 1 always have" in said


def test_grpos_band_goes_by_the_rates_where_no_map_is_given(tmp_path: Path, given: list[str]) -> None:
    made, said = run(tmp_path / "run", "pipeline", *RAFT, "grpo.difficulty_high=0.9", until="rollout")
    prompts = read_rows(made.folder / "prepare" / "grpo.jsonl")
    assert read_rows(made.folder / "rollout" / "grpo.jsonl") == prompts[1:]
    assert "rollout: 1 of 6 prompts lie outside the difficulty band" in said
    with pytest.raises(UsageError, match="0 of 6 prompts have a pass rate within"):
        run(tmp_path / "none", "pipeline", *RAFT, "grpo.difficulty_high=0.1", until="rollout")


@pytest.mark.parametrize(("share", "own", "shown"), [(0.5, 5, 0), (0.7, 6, 6)])
def test_repair_mixes_failures_with_its_own_perfect_answers_and_demonstrations_where_those_are_few(
    tmp_path: Path, given: list[str], share: float, own: int, shown: int
) -> None:
    made, said = run(tmp_path / "run", "repair", f"episodes.rehearsal={share}", until="repair")
    assert given == ["rollout", "sft"]
    rows = read_rows(made.folder / "rollout" / "repair.jsonl")
    asked, shown_to = (
        {row["prompt"] for row in read_rows(made.folder / "prepare" / f"{name}.jsonl")} for name in ("grpo", "sft")
    )
    assert sum(row["prompt"] in asked for row in rows) == own
    assert sum(row["prompt"] in shown_to for row in rows) == shown
    assert len(rows) == 5 + own + shown
    counts = json.loads((made.folder / "rollout" / "counts.json").read_text())
    assert counts == {
        "samples": 12,
        "failed": 5,
        "repeated": 0,
        "without_reference": 0,
        "too_long": 0,
        "kept": 5,
        "plain": own + shown,
        "own": own,
    }
    assert "5 of 12 answers failed; 5 repairs to learn" in said
    assert f"and {own + shown} plain answers among them, {own} of these its own" in said


@pytest.mark.parametrize(
    ("mode", "changes", "said"),
    [
        ("pipeline", ["raft.samples=2"], r"key 'raft\.steps': field required"),
        ("pipeline", [*RAFT, "raft.batch_size=3", "raft.gradient_accumulation=2"], r"raft\.batch_size \(3\) must be a"),
        ("pipeline", [*RAFT, "raft.merge=false"], r"raft\.merge false needs raft\.lora_rank"),
        ("pipeline", [*RAFT, "raft.merge=false", "raft.lora_rank=4"], r"raft\.merge false leaves no model"),
        ("drift", RAFT, "raft is a stage of mode pipeline"),
        ("pipeline", ["raft.threshhold=1"], r"did you mean 'raft\.threshold'"),
        ("repair", ["episodes.rehearsal=1"], r"key 'episodes\.rehearsal'"),
        ("repair", ["evaluate.through=policy"], r"mode repair needs the models in processes here"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(mode: RunMode, changes: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        resolve("micro", changes, mode=mode)
    assert "\n" not in str(raised.value)


def test_a_preset_without_the_keys_of_repair_says_which_are_missing() -> None:
    with pytest.raises(UsageError, match=r"mode repair needs repair\.steps, repair\.batch_size"):
        resolve("smol", mode="repair")


def test_raft_is_in_a_pipeline_that_asks_for_it_alone() -> None:
    assert resolve("micro").stages[:3] == ("prepare", "sft", "grpo")
    assert resolve("micro", RAFT).stages[:5] == ("prepare", "sft", "rollout", "raft", "grpo")
    assert resolve("micro", RAFT).policies == ("random", "base", "sft", "raft", "grpo", "oracle")


def test_every_stage_that_trains_has_its_share_of_the_bar() -> None:
    repair, drift = (stages.efforts(resolve("nano", mode=mode)) for mode in ("repair", "drift"))
    assert repair["rollout"] > repair["repair"] > repair["gate"]
    assert drift["update"] > drift["gate"]
    assert {"evaluate incumbent", "evaluate candidate"} <= drift.keys()
