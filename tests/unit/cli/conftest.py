"""Recorded completions of a small real evaluation, as a run folder and as files, for the verbs that read them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.gym.examples.countdown import Countdown, make
from rl_gym.gym.records import RecordedCompletion


def weak(env: Countdown) -> Callable[[Episode], str]:
    """Knows half of the answers, and adds two numbers elsewhere."""

    def answer(episode: Episode) -> str:
        first, second, *_ = episode.data["numbers"]
        return env.oracle(episode) if int(episode.id[-1]) % 2 else f"{first} + {second}"

    return answer


@pytest.fixture(scope="session")
def completions() -> list[RecordedCompletion]:
    """sft knows half of the answers, grpo and the oracle all; 192 episodes of countdown."""
    env = make()
    episodes = env.episodes("train")[:192]
    answers = {"sft": weak(env), "grpo": env.oracle, "oracle": env.oracle}
    return [r for name, answer in answers.items() for r in evaluate_reference(env, episodes, name, answer, split="dev")]


@pytest.fixture
def completions_file(tmp_path: Path, completions: list[RecordedCompletion]) -> Path:
    path = tmp_path / "completions.jsonl"
    records.write(path, completions)
    return path


@pytest.fixture
def run_folder(tmp_path: Path, completions: list[RecordedCompletion]) -> Path:
    """A run of countdown that has been evaluated and no further."""
    from rl_gym.training.config import parse, resolve
    from rl_gym.training.run import Run

    document = resolve("micro").model_dump(mode="json")
    document["environment"] = {"name": "countdown", "options": {}}
    run = Run.create(tmp_path / "run", parse(document, "test"), now=datetime(2024, 1, 1, tzinfo=UTC), digests={})
    for stage in ("prepare", "sft", "grpo"):
        run.stage(stage)
        run.seal(stage)
    records.write(run.stage("evaluate") / "completions.jsonl", completions)
    run.seal("evaluate")
    return run.folder
