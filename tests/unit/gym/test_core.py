from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest

from rl_gym.gym.core import (
    Component,
    Episode,
    Gate,
    InfrastructureError,
    Reward,
    RewardBreakdown,
    content_hash,
    score_completion,
)
from rl_gym.gym.examples.countdown import Countdown
from rl_gym.infra.errors import UsageError

EPISODE = Episode("e", "do it")


@dataclass(frozen=True)
class Answer:
    text: str = "answer"
    valid: bool = True


def component(name: str, value: float | None, weight: float = 1.0, cap: float | None = None) -> Component:
    return Component(name, lambda action, episode: value, weight, cap)


def test_reward_is_the_weighted_mean_of_capped_components() -> None:
    reward = Reward([component("a", 0.5, weight=3), component("b", 0.4, cap=0.8)])
    breakdown = reward.score(Answer(), EPISODE)
    assert breakdown.reward == pytest.approx((3 * 0.5 + 0.5) / 4)
    assert breakdown.components == {"a": 0.5, "b": 0.4}


def test_a_component_that_does_not_apply_is_left_out_and_weights_renormalised() -> None:
    reward = Reward([component("a", 0.5, weight=3), component("b", None, weight=5)])
    assert reward.score(Answer(), EPISODE).reward == pytest.approx(0.5)


def test_nothing_that_applies_earns_nothing() -> None:
    assert Reward([component("a", None)], format_bonus=0.5).score(Answer(), EPISODE).reward == 0


def test_a_false_gate_zeroes_the_reward_and_keeps_the_components() -> None:
    reward = Reward([component("a", 1.0)], [Gate("closed", lambda action, episode: False)])
    breakdown = reward.score(Answer(), EPISODE)
    assert (breakdown.reward, breakdown.gated, breakdown.components) == (0.0, True, {"a": 1.0})


def test_format_bonus_is_clipped_at_one_and_penalty_is_for_what_does_not_parse() -> None:
    reward = Reward([component("a", 0.95)], format_bonus=0.1, format_penalty=0.2)
    assert reward.score(Answer(), EPISODE).reward == 1.0
    unparsed = reward.score(None, EPISODE)
    assert (unparsed.reward, unparsed.valid, unparsed.action) == (-0.2, False, "")


def test_no_penalty_is_plain_zero() -> None:
    assert math.copysign(1, Reward([component("a", 1.0)]).score(None, EPISODE).reward) == 1


@pytest.mark.parametrize("value", [1.5, -0.1, math.nan, math.inf])
def test_a_component_outside_its_bounds_is_our_fault(value: float) -> None:
    with pytest.raises(InfrastructureError, match="outside"):
        Reward([component("a", value)]).score(Answer(), EPISODE)


@pytest.mark.parametrize(
    "make",
    [
        lambda: component("a", 1.0, weight=0),
        lambda: component("a", 1.0, weight=math.inf),
        lambda: component("a", 1.0, cap=1.5),
        lambda: Reward([]),
        lambda: Reward([component("a", 1.0), component("a", 1.0)]),
        lambda: Reward([component("a", 1.0)], [Gate("a", lambda action, episode: True)]),
        lambda: Reward([component("a", 1.0)], format_penalty=2),
    ],
)
def test_nonsense_settings_are_refused(make: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        make()  # type: ignore[operator]


def test_the_digest_moves_with_everything_that_decides() -> None:
    base = Reward([component("a", 1.0)], [Gate("g", lambda action, episode: True)], version="1")
    variants = [
        Reward([component("b", 1.0)], base.gates, version="1"),
        Reward([component("a", 1.0, weight=2)], base.gates, version="1"),
        Reward([component("a", 1.0, cap=0.5)], base.gates, version="1"),
        Reward([component("a", 1.0)], (), version="1"),
        Reward([component("a", 1.0)], base.gates, version="2"),
        Reward([component("a", 1.0)], base.gates, version="1", format_bonus=0.1),
    ]
    assert len({base.digest, *(v.digest for v in variants)}) == 1 + len(variants)
    assert Reward([component("a", 0.3)], base.gates, version="1").digest == base.digest


def test_episodes_are_the_same_by_request_and_data_alone() -> None:
    data = {"b": [1, 2], "a": {"x": None}}
    one = Episode("1", "r", "here", data)
    assert one.hash == Episode("2", "r", "there", dict(reversed(data.items()))).hash
    assert one.hash != Episode("1", "r ", "here", data).hash
    assert Episode.from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_content_hash_is_what_it_always_was() -> None:
    # Frozen splits and stored verdicts hold such hashes: a change here would orphan them.
    assert content_hash({"b": "é", "a": [1, None]}) == (
        "e03c3c1ebb5fccd76e3bd35b9a86169f35e6f1b069645d48ac278175f54c4208"
    )


def test_breakdown_survives_its_dictionary() -> None:
    breakdown = RewardBreakdown(0.5, {"a": None}, {"g": True}, True, "t", "d")
    assert RewardBreakdown.from_dict(json.loads(json.dumps(breakdown.to_dict()))) == breakdown


def test_a_crash_of_the_environment_is_our_fault(countdown: Countdown, monkeypatch: pytest.MonkeyPatch) -> None:
    episode = countdown.episodes("dev")[0]
    monkeypatch.setattr(Countdown, "parse", lambda *_: 1 / 0)
    with pytest.raises(InfrastructureError, match=r"countdown.*dev-000.*ZeroDivisionError"):
        score_completion(countdown, "1", episode)


def test_an_error_that_is_one_of_ours_keeps_its_kind(countdown: Countdown, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UsageError("no such ruleset")

    monkeypatch.setattr(Countdown, "parse", refuse)
    with pytest.raises(UsageError, match="no such ruleset"):
        score_completion(countdown, "1", countdown.episodes("dev")[0])
