"""What is refused before anything of a run is made."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

pytest.importorskip("tokenizers")

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.training.config import resolve
from rl_gym.training.run import Run
from rl_gym.training.stages import start
from rl_gym.training.stages.preflight import require_sound, require_stages
from rl_gym.wire.run import RunMode


@pytest.mark.parametrize(
    ("policies", "mode", "last"),
    [
        ('["base","sft"]', "pipeline", "evaluate"),
        ('["random","oracle"]', "pipeline", "evaluate"),
        ('["sft","grpo"]', "pipeline", "promote"),
        ('["random","oracle"]', "eval-only", "evaluate"),
        ('["random"]', "drift", "update"),
        ('["incumbent","candidate"]', "drift", "promote"),
        ('["random"]', "flywheel", "evaluate"),
    ],
)
def test_whoever_compares_nothing_evaluates_what_they_like(policies: str, mode: RunMode, last: str) -> None:
    changes = [f"evaluate.policies={policies}", *(["flywheel.traffic=x"] if mode == "flywheel" else [])]
    require_stages(resolve("micro", changes, mode=mode), last)


@pytest.mark.parametrize(
    ("policies", "mode", "last", "said"),
    [
        ('["base","sft"]', "pipeline", "audit", "leaves out grpo, which stage audit compares: add it, or end the run"),
        ('["random"]', "pipeline", "promote", "leaves out sft and grpo, which stage audit compares: add them"),
        ('["random"]', "flywheel", "audit", "leaves out incumbent and candidate, which stage audit compares"),
        ('["incumbent"]', "drift", "evaluate", "leaves out candidate, which stage evaluate compares"),
        ('["candidate"]', "repair", "evaluate", "leaves out incumbent, which stage evaluate compares"),
    ],
)
def test_a_policy_that_a_stage_compares_has_to_be_evaluated(policies: str, mode: RunMode, last: str, said: str) -> None:
    changes = [f"evaluate.policies={policies}", *(["flywheel.traffic=x"] if mode == "flywheel" else [])]
    with pytest.raises(UsageError, match=f"^evaluate.policies {said}"):
        require_stages(resolve("micro", changes, mode=mode), last)


@pytest.mark.parametrize(
    ("changes", "mode", "until", "said"),
    [
        (["evaluate.policies=['base']"], "pipeline", None, "leaves out sft and grpo"),
        ([], "pipeline", "gates", "there is no stage 'gates': choose one of prepare, sft, grpo"),
        (["drift.before=nope"], "drift", "prepare", r"drift\.before: there is no ruleset 'nope'"),
        (["evaluate.anchor=nope"], "pipeline", "prepare", r"evaluate\.anchor: iac has no split 'nope'"),
        (["environment.options.ruleset=nope"], "pipeline", "prepare", "there is no ruleset 'nope'"),
    ],
)
def test_nothing_is_made_of_a_run_that_cannot_end_well(
    changes: list[str], mode: RunMode, until: str | None, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        start(resolve("micro", changes, mode=mode), tmp_path / "run", now=datetime(2025, 1, 1), until=until)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_ends_before_the_comparison_is_made(tmp_path: Path) -> None:
    config = resolve("micro", ["evaluate.policies=['base','sft']"])
    made = start(config, tmp_path / "run", now=datetime(2025, 1, 1), until="evaluate")
    assert Run.open(made.folder).config == config


def test_an_anchor_may_be_on_another_machine_alone_and_rules_not() -> None:
    require_sound(resolve("micro", ["evaluate.anchor=nope"]), "gate", here=False)
    with pytest.raises(NotFoundError, match=r"drift\.before: "):
        require_sound(resolve("micro", ["drift.before=nope"], mode="drift"), "gate", here=False)
