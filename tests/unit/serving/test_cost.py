"""Costs: by tokens, or by a share of the engine's time that nobody pays twice."""

from __future__ import annotations

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.serving.cost import EngineClock, Prices, total
from rl_gym.wire import Usage

USAGE = Usage(prompt_tokens=1_000, completion_tokens=500, seconds=2)


def test_tokens_are_paid_at_their_prices() -> None:
    cost = Prices(prompt_million_usd=2, completion_million_usd=8).cost(USAGE, 100)
    assert cost is not None
    assert cost.basis == "tokens"
    assert cost.usd == pytest.approx(0.006)


def test_a_gpu_is_paid_by_the_second() -> None:
    cost = Prices(gpu_hour_usd=3.6).cost(USAGE, 2)
    assert cost is not None
    assert (cost.basis, cost.gpu_seconds) == ("gpu_seconds", 2)
    assert cost.usd == pytest.approx(0.002)


def test_what_has_no_price_has_no_cost() -> None:
    assert Prices().cost(USAGE, 2) is None
    with pytest.raises(UsageError, match="not by both"):
        Prices(gpu_hour_usd=1, prompt_million_usd=1)


def test_usages_add_up() -> None:
    assert total([USAGE, USAGE]) == Usage(prompt_tokens=2_000, completion_tokens=1_000, seconds=4)


def test_the_time_of_the_engine_is_divided_by_sequences_and_never_billed_twice() -> None:
    now = 100.0
    clock = EngineClock(lambda: now)
    with clock.call(1) as first:
        now += 3
        with clock.call(3) as second:
            now += 4
        now += 2
    now += 50
    with clock.call(2) as third:
        now += 1
    assert first.seconds == pytest.approx(3 + 1 + 2)
    assert second.seconds == pytest.approx(3)
    assert third.seconds == pytest.approx(1)


def test_a_call_that_fails_is_over_too() -> None:
    now = 0.0
    clock = EngineClock(lambda: now)

    def fail() -> None:
        nonlocal now
        with clock.call(1):
            now += 1
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        fail()
    with clock.call(1) as share:
        now += 1
    assert share.seconds == pytest.approx(1)
