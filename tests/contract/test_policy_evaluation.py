"""Evaluation and bake-off through a policy service that runs, beside the same in processes here."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

pytest.importorskip("transformers", reason="the extra serve is not installed")

from rl_gym.gym import records
from rl_gym.gym.records import RecordedCompletion
from rl_gym.infra.errors import NotFoundError
from rl_gym.training.config import resolve
from rl_gym.training.means import Means
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages import efforts, execute, start
from rl_gym.wire.run import RunMode

SMALL = ("model.base=nano", "episodes.held_out=4", "episodes.max_tokens=96", "evaluate.batch_size=32")


def run_of(folder: Path, mode: RunMode, policy: str, *changes: str) -> Run:
    run = start(resolve("micro", [*SMALL, *changes], seed=1, mode=mode), folder, now=datetime(2025, 1, 1))
    with RunProgress(Console(quiet=True), efforts(run.config)) as progress:
        execute(run, progress, Means(policy=policy))
    return run


def completions(run: Run, stage: str, policy: str, *, greedy: bool) -> list[RecordedCompletion]:
    found = records.read(run.folder / stage / "completions.jsonl")
    return [one for one in found if one.policy == policy and one.greedy is greedy]


def test_the_service_answers_as_a_process_here_where_nothing_is_drawn(policy: str, tmp_path: Path) -> None:
    """Samples differ: the engine gives each row noise of its own, whatever else is in its batch, and a process here
    draws for a batch as a whole."""
    here = run_of(tmp_path / "here", "eval-only", "")
    there, again = (
        run_of(tmp_path / name, "eval-only", policy, "evaluate.through=policy") for name in ("there", "again")
    )
    assert not (there.folder / "evaluate" / "base.json").exists()
    for greedy in (True, False):
        own, first, second = (completions(run, "evaluate", "base", greedy=greedy) for run in (here, there, again))
        texts = [[one.completion for one in side] for side in (own, first, second)]
        assert texts[1] == texts[2]
        assert (texts[0] == texts[1]) is greedy
        assert [one.episode_hash for one in own] == [one.episode_hash for one in first]
    oracle = (completions(run, "evaluate", "oracle", greedy=True) for run in (here, there))
    assert next(oracle) == next(oracle)


def test_a_model_that_is_not_served_is_evaluated_here(policy: str, tmp_path: Path) -> None:
    changes = ("model.root=another", "evaluate.through=policy", 'evaluate.policies=["base"]')
    run = run_of(tmp_path / "run", "eval-only", policy, *changes)
    assert (run.folder / "evaluate" / "base.json").exists()


def test_the_served_models_are_compared(policy: str, tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", "bakeoff", policy)
    table = json.loads((run.folder / "bakeoff" / "bakeoff.json").read_text())
    assert [row["policy"] for row in table["rows"]] == ["nano", "nano-base"]
    assert table["lead"]["first"] == "nano"
    assert all(row["reproducible"] for row in table["rows"])
    assert len(completions(run, "bakeoff", "nano", greedy=False)) == 4 * run.config.evaluate.samples
    with pytest.raises(NotFoundError, match="the policy service serves no 'nani', but nano, nano-base"):
        run_of(tmp_path / "none", "bakeoff", policy, 'bakeoff.models=["nani"]')
