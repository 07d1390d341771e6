"""RAFT, repair and drift for real, in miniature: TRL in children, on preset micro, which teaches nothing."""

from __future__ import annotations

import io
import json
from datetime import datetime
from pathlib import Path

import pytest

pytest.importorskip("trl")

from rich.console import Console

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.rescoring import rescore
from rl_gym.infra.digests import tree_digest
from rl_gym.serving.weights import find_model
from rl_gym.training import stages
from rl_gym.training.config import resolve
from rl_gym.training.files import read_rows
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages.jobs import environment
from rl_gym.wire.run import RunMode

pytestmark = pytest.mark.slow

SHORT = ("episodes.held_out=4", "evaluate.samples=1", "grpo.steps=1")
RAFT = ("raft.steps=1", "raft.batch_size=4", "raft.learning_rate=1e-3", "raft.samples=2", "raft.threshold=0.1")


def run(folder: Path, mode: RunMode, *changes: str, until: str) -> tuple[Run, str]:
    """A run of a mode, and what it said."""
    made = stages.start(resolve("micro", [*SHORT, *changes], mode=mode), folder, now=datetime(2025, 1, 1))
    said = io.StringIO()
    with RunProgress(Console(file=said, width=200), stages.efforts(made.config)) as progress:
        stages.execute(made, progress, until=until)
    return made, said.getvalue()


def held_out(made: Run) -> dict[str, Episode]:
    episodes = [Episode.from_dict(row) for row in read_rows(made.folder / "prepare" / "held_out.jsonl")]
    return {episode.hash: episode for episode in episodes}


def test_raft_learns_its_best_answers_and_hands_grpo_a_model_and_a_map(tmp_path: Path) -> None:
    made, said = run(tmp_path / "run", "pipeline", *RAFT, until="grpo")
    folder = made.folder / "rollout"
    prompts = read_rows(made.folder / "prepare" / "grpo.jsonl")
    samples = read_rows(folder / "samples.jsonl")
    assert len(samples) == 2 * len(prompts)
    assert json.loads((folder / "rates.json").read_text()).keys() == {
        Episode.from_dict(json.loads(row["episode"])).hash for row in prompts
    }
    kept = read_rows(folder / "raft.jsonl")
    whole = {row["completion"] for row in samples if row["reward"] >= 0.1 and row["finish_reason"] == "stop"}
    assert kept
    assert {row["completion"] for row in kept} <= whole
    assert f"{len(kept)} of {len(prompts)} prompts have a whole answer of reward at least 0.1" in said
    job = json.loads((made.folder / "grpo" / "job.json").read_text())
    assert job["model"] == str((made.folder / "raft" / "model").resolve())
    assert read_rows(made.metrics("raft"))[0]["stage"] == "raft"
    digests = {tree_digest(made.folder / stage / "model") for stage in ("sft", "raft", "grpo")}
    assert len(digests) == 3


def test_repair_is_learnt_and_measured_over_both_turns(tmp_path: Path) -> None:
    made, _ = run(tmp_path / "run", "repair", until="gate")
    counts = json.loads((made.folder / "rollout" / "counts.json").read_text())
    rows = read_rows(made.folder / "rollout" / "repair.jsonl")
    assert len(rows) == counts["kept"] + counts["plain"]
    assert sum("\nProblems:\n" in row["prompt"] for row in rows) == counts["kept"] > 0
    found = json.loads((made.folder / "evaluate" / "repair.json").read_text())
    first = records.read(made.folder / "evaluate" / "completions.jsonl")
    again = made.folder / "evaluate" / "repaired.jsonl"
    second = records.read(again) if again.stat().st_size else []
    for policy, side in found["policies"].items():
        tried = [record for record in second if record.policy == policy and not record.greedy]
        assert side["n"] == len([record for record in first if record.policy == policy and not record.greedy])
        assert side["due"] >= side["attempts"] == len(tried)
        assert side["reward"]["after"]["estimate"] >= side["reward"]["before"]["estimate"]
    assert found["policies"].keys() == {"incumbent", "candidate"}
    assert {record.model for record in first if record.policy == "incumbent"} == {tree_digest(find_model("nano"))}
    if second:
        assert rescore(environment(made.config), first, held_out(made)).comparable


def test_drift_is_taught_and_then_sharpened(tmp_path: Path) -> None:
    made, _ = run(tmp_path / "run", "drift", "update.method=sft-grpo", "sft.steps=1", until="gate")
    assert {row["stage"] for stage in ("update", "grpo") for row in read_rows(made.metrics(stage))} == {
        "update",
        "grpo",
    }
    verdict = json.loads((made.folder / "gate" / "verdict.json").read_text())
    trained = [tree_digest(made.folder / stage / "model") for stage in ("update", "grpo")]
    assert verdict["candidate"]["model"] == trained[1] != trained[0]


def test_drift_is_updated_by_the_reward_and_measured_on_both_rulesets(tmp_path: Path) -> None:
    made, _ = run(tmp_path / "run", "drift", until="gate")
    assert read_rows(made.metrics("update"))[0]["reward"] >= 0
    found = json.loads((made.folder / "evaluate" / "drift.json").read_text())
    assert {row["n"] for row in found["differences"].values()} == {4}
    before = json.loads((made.folder / "gate" / "before.json").read_text())
    verdict = json.loads((made.folder / "gate" / "verdict.json").read_text())
    assert verdict["settings"]["also"] == [before["digest"]]
    assert verdict["candidate"]["model"] == tree_digest(made.folder / "update" / "model")
