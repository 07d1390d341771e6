"""The break-even: the formula, its ends, and what one GPU can answer."""

from __future__ import annotations

import math

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.serving.tables.break_even import break_even


def test_a_gpu_of_two_dollars_against_a_cent_a_request() -> None:
    found = break_even(2.0, 0.01, 500)
    assert found.requests_a_day == pytest.approx(4_800)
    assert found.most_a_day == 12_000
    assert found.within_reach is True


@pytest.mark.parametrize(
    ("hour", "request_", "above"),
    [(2.0, 0.0, math.inf), (0.0, 0.0, math.inf), (0.0, 0.01, 0.0), (2.0, 1e-300, 4.8e301)],
)
def test_the_ends(hour: float, request_: float, above: float) -> None:
    assert break_even(hour, request_).requests_a_day == pytest.approx(above)


def test_what_one_gpu_cannot_answer_is_out_of_reach() -> None:
    assert break_even(2.0, 0.01, 100).within_reach is False
    assert break_even(2.0, 0.01, 200).within_reach is False
    assert break_even(2.0, 0.0, 1e9).within_reach is False
    assert break_even(2.0, 0.01).within_reach is None


@pytest.mark.parametrize(
    ("hour", "request_", "own", "complaint"),
    [
        (-1, 0.01, None, "an hour of a GPU costs 0 or more US dollars, not -1"),
        (math.nan, 0.01, None, "not nan"),
        (1, math.inf, None, "a request costs 0 or more US dollars, not inf"),
        (1, 0.01, 0, "more than 0 requests an hour, not 0"),
        (1, 0.01, math.inf, "not inf"),
    ],
)
def test_what_is_no_amount(hour: float, request_: float, own: float | None, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        break_even(hour, request_, own)
