from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rl_gym.gym.core import score_completion
from rl_gym.gym.examples.countdown import Countdown, _episode, make
from rl_gym.gym.splits import refuse
from rl_gym.infra.errors import NotFoundError

EPISODE = _episode("e", [2, 3, 5, 7], 31, "(2 * 3) * 5")


@pytest.mark.parametrize(
    ("completion", "reward"),
    [
        ("2 * 3 * 5 + 7", 0.25 * (1 - 6 / 31)),
        ("(7 - 3) * 5 + 2", 0.25 * (1 - 9 / 31)),
        ("Let me see.\n\n3*7+2*5", 1.0),
        ("3*7+2*5 = 31", 0.0),
        ("31", 0.0),
        ("7 * 7", 0.0),
        ("5 * 5 + 6", 0.0),
        ("7 / (5 - 3 - 2)", 0.0),
        ("2 ** 5", 0.0),
        ("7 // 2", 0.0),
        ("2(3)", 0.0),
        ("02 + 3", 0.0),
        ("-7", 0.0),
        ("(" * 100 + "7" + ")" * 100, 0.0),
        ("7" * 201, 0.0),
    ],
)
def test_the_reward_is_what_the_arithmetic_says(countdown: Countdown, completion: str, reward: float) -> None:
    assert score_completion(countdown, completion, EPISODE).reward == pytest.approx(reward)


def test_every_oracle_is_perfect_and_every_floor_is_not(countdown: Countdown) -> None:
    for split in countdown.splits:
        for episode in countdown.episodes(split):
            assert score_completion(countdown, countdown.oracle(episode), episode).reward == 1.0
            assert 0 < score_completion(countdown, countdown.random(episode), episode).reward < 0.25


def test_the_splits_hold_nothing_in_common(countdown: Countdown) -> None:
    refuse(countdown.episodes("train"), {name: countdown.episodes(name) for name in ("dev", "holdout")})
    with pytest.raises(NotFoundError, match="dev, holdout, train"):
        countdown.episodes("test")


def test_canonical_form_forgets_numbers_and_order(countdown: Countdown) -> None:
    forms = {
        text: countdown.canonical(action)
        for text in ("2*3+7", "7+5*2", "(7-5)*2", "2*(5-7)", "7-(2*3)")
        if (action := countdown.parse(text, EPISODE)) is not None
    }
    assert forms["2*3+7"] == forms["7+5*2"]
    assert forms["(7-5)*2"] == forms["2*(5-7)"]
    assert len(set(forms.values())) == 3


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.text("0123456789+-*/() \n", max_size=220)))
def test_no_text_breaks_the_parser_or_leaves_the_bounds(text: str) -> None:
    assert 0 <= score_completion(make(), text, EPISODE).reward <= 1
