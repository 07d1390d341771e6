from __future__ import annotations

import pytest

from rl_gym.gym.audit import training_alarms


def log(dead: list[float], reward: float = 0.5) -> list[dict[str, float]]:
    return [{"frac_reward_zero_std": share, "reward": reward, "loss": 0.1} for share in dead]


def test_variance_that_stays_is_no_alarm() -> None:
    assert training_alarms(log([0.2] * 40)) == []


def test_variance_that_vanishes_below_the_ceiling_is_an_alarm() -> None:
    [alarm] = training_alarms(log([0.2] * 30 + [1.0] * 10))
    assert alarm == (
        "reward variance collapsed: over the last 10 logged steps 100% of the groups had no spread, "
        "at a mean reward of 0.50"
    )


def test_variance_that_vanishes_at_the_ceiling_is_success() -> None:
    assert training_alarms(log([1.0] * 40, reward=0.99)) == []


def test_variance_that_came_back_is_no_alarm() -> None:
    assert training_alarms(log([1.0] * 30 + [0.3] * 10)) == []


@pytest.mark.parametrize("rows", [[], log([1.0] * 7), [{"loss": 0.1}] * 40])
def test_too_little_to_tell_is_no_alarm(rows: list[dict[str, float]]) -> None:
    assert training_alarms(rows) == []
