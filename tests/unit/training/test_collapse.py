"""The collapse watch: what it raises, once, and how its file comes to the gate."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.training.collapse import ALARMS, Alarm, CollapseWatch, read_alarms, run_alarms, write_alarms
from rl_gym.training.config import resolve
from rl_gym.training.recipe import CollapseSection
from rl_gym.training.run import Run

HEALTHY = {"reward": 0.5, "reward_std": 0.3, "entropy": 0.5, "unique_completions": 0.9}


def watched(*changes: dict[str, float], **section: Any) -> list[Alarm]:
    watch = CollapseWatch(CollapseSection(window=3, **section))
    for step, change in enumerate(changes, 1):
        watch.observe({**HEALTHY, **change, "step": step})
    return watch.alarms


def test_a_healthy_training_raises_nothing() -> None:
    assert watched(*[{}] * 20) == []


@pytest.mark.parametrize(
    ("column", "what", "said"),
    [
        ("reward_std", "reward_std", "the spread of the reward collapsed at step 5"),
        ("entropy", "entropy", "the entropy of the policy collapsed at step 5"),
        ("unique_completions", "unique", "the completions became one and the same at step 5"),
    ],
)
def test_a_mean_below_its_threshold_is_told_once(column: str, what: str, said: str) -> None:
    [alarm] = watched({}, {}, *[{column: 0.001}] * 9, entropy=0.01)
    assert (alarm.what, alarm.step, alarm.values) == (what, 5, [0.001] * 3)
    assert str(alarm).startswith(said)
    assert "over the last 3 generations, threshold 0.0" in str(alarm)


def test_one_low_value_is_no_collapse() -> None:
    assert watched({}, {}, {"entropy": 0.0}, {}, {}, {"reward_std": 0.0}, {}) == []


def test_too_few_generations_tell_nothing() -> None:
    assert watched(*[{"entropy": 0.0}] * 2) == []


def test_at_the_ceiling_no_spread_is_success_and_one_answer_is_not() -> None:
    ended = {"reward": 0.99, "reward_std": 0.0, "entropy": 0.0, "unique_completions": 0.01}
    assert [alarm.what for alarm in watched(*[ended] * 5)] == ["unique"]


def test_a_threshold_of_zero_is_off() -> None:
    dead = {"reward_std": 0.0, "entropy": 0.0, "unique_completions": 0.0}
    assert watched(*[dead] * 5, reward_std=0, entropy=0, unique=0) == []


def test_steps_without_a_generation_are_passed_over() -> None:
    watch = CollapseWatch(CollapseSection(window=2))
    for step in range(1, 5):
        watch.observe({"step": step, "entropy": 0.0, "loss": 0.1})
    assert watch.alarms == []


def test_alarms_survive_their_file_and_leave_none_where_there_are_none(tmp_path: Path) -> None:
    alarms = watched(*[{"entropy": 0.0}] * 3)
    write_alarms(tmp_path, alarms)
    assert read_alarms(tmp_path) == alarms
    write_alarms(tmp_path, [])
    assert not (tmp_path / ALARMS).exists()
    assert read_alarms(tmp_path) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"alarms": 3}', '{"alarms": [{"what": "luck"}]}'])
def test_a_damaged_file_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / ALARMS).write_text(text)
    with pytest.raises(UsageError, match=r"alarms\.json is damaged: ") as raised:
        read_alarms(tmp_path)
    assert "\n" not in str(raised.value)


def test_an_alarm_may_not_get_lost(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", resolve("micro"), now=datetime(2025, 1, 1), digests={})
    [alarm] = watched(*[{"entropy": 0.0}] * 3)
    write_alarms(run.stage("grpo"), [alarm])
    run.seal("grpo")
    assert run_alarms(run, "grpo") == [str(alarm)]
    (run.folder / "grpo" / ALARMS).unlink()
    with pytest.raises(UsageError, match=r"alarms\.json is missing"):
        run_alarms(run, "grpo")
