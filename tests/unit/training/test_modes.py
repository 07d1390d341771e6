"""Runs that train nothing, for real on preset micro: evaluation alone, its figures as a model serves, and mining."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

pytest.importorskip("transformers", reason="the extra serve is not installed")

from rl_gym.gym import records
from rl_gym.gym.best_of import best_of
from rl_gym.gym.statistics import mean_interval
from rl_gym.iac.mined import read_mined
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.training.config import resolve
from rl_gym.training.means import Means
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages import efforts, execute, start
from rl_gym.wire.run import RunMode
from tests.unit.iac.mining.clones import clone, resource

TYPES = ["aws_athena_workgroup", "aws_sqs_queue"]
SMALL = ("episodes.held_out=3", "episodes.max_tokens=64")


def run_of(folder: Path, mode: RunMode, *changes: str, means: Means | None = None) -> Run:
    run = start(resolve("micro", changes, seed=1, mode=mode), folder, now=datetime(2025, 1, 1))
    with RunProgress(Console(quiet=True), efforts(run.config)) as progress:
        execute(run, progress, means)
    return run


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_an_evaluation_alone_prepares_nothing_to_train_on(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", "eval-only", *SMALL, "evaluate.samples=3", "evaluate.best_of=2", "model.base=nano")
    assert run.stages == ("prepare", "evaluate")
    assert sorted(path.name for path in (run.folder / "prepare").iterdir()) == ["held_out.jsonl", "manifest.json"]
    found = records.read(run.folder / "evaluate" / "completions.jsonl")
    assert list(dict.fromkeys(record.policy for record in found)) == ["random", "base", "oracle"]

    figures = document(run.folder / "evaluate" / "serving.json")
    base = figures["policies"]["base"]
    own = [record for record in found if record.policy == "base" and not record.greedy]
    assert (figures["best_of"], base["n"]) == (2, len(own))
    assert base["best_of"]["reward"] == mean_interval(best_of(own, 2)).to_dict()
    assert base["best_of"]["gain"]["estimate"] >= 0
    assert "best_of" not in figures["policies"]["oracle"]
    assert "repair" not in base


def test_a_second_answer_is_measured_where_it_is_asked_for(tmp_path: Path) -> None:
    changes = (*SMALL, "evaluate.samples=2", "evaluate.repair=true")
    run = run_of(tmp_path / "run", "eval-only", *changes)
    folder = run.folder / "evaluate"
    figures = document(folder / "serving.json")["policies"]
    assert "repair" not in figures["random"]
    repair = figures["base"]["repair"]
    again = records.read(folder / "repaired.jsonl")
    assert repair["attempts"] == sum(not record.greedy for record in again) > 0
    assert repair["gain"]["estimate"] >= 0
    assert {record.policy for record in again} == {"base"}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (("evaluate.best_of=3", "evaluate.samples=2"), r"evaluate\.best_of \(3\) needs as many evaluate\.samples"),
        (("evaluate.repair=true", "evaluate.through=policy"), r"evaluate\.repair needs the models in processes here"),
    ],
)
def test_figures_that_cannot_be_had_are_refused(changes: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        resolve("micro", changes)


@pytest.mark.parametrize(
    ("mode", "changes", "who"),
    [
        ("bakeoff", (), "mode bakeoff"),
        ("eval-only", ("evaluate.through=policy",), r"evaluate\.through = policy"),
    ],
)
def test_without_a_policy_service_one_line_says_how_to_name_it(
    tmp_path: Path, mode: RunMode, changes: tuple[str, ...], who: str
) -> None:
    with pytest.raises(UsageError, match=f"^{who} asks a policy service, and there is none here: .*RL_GYM_POLICY"):
        run_of(tmp_path / "run", mode, *SMALL, *changes)


def test_a_run_mines_what_the_verb_mines(tmp_path: Path) -> None:
    module = {"main.tf": "\n".join(resource(kind, name='"amber"') for kind in TYPES)}
    clone(tmp_path / "clones" / "a", "https://github.com/ada/a", module)
    run = run_of(tmp_path / "run", "mine", f'mine.folders=["{tmp_path / "clones"}"]', "mine.holdout_share=0")
    assert run.stages == ("mine",)
    [episode] = read_mined(run.folder / "mine").train
    assert sorted(episode.data["required"]) == TYPES
    assert run.stands("mine")


def test_a_mining_that_finds_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "clones").mkdir()
    with pytest.raises(UsageError, match=r"mine\.folders"):
        resolve("micro", mode="mine")
    with pytest.raises((UsageError, NotFoundError)):
        run_of(tmp_path / "run", "mine", f'mine.folders=["{tmp_path / "clones"}"]')
