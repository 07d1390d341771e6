from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rl_gym.gym.conformance import check
from rl_gym.gym.core import Component, Episode, Exploit, Reward
from rl_gym.gym.examples.countdown import Countdown


def outcomes(env: Countdown) -> dict[str, tuple[bool | None, str]]:
    return {result.name: (result.passed, result.detail) for result in check(env)}


def test_the_second_environment_conforms(countdown: Countdown) -> None:
    assert {name: result for name, result in outcomes(countdown).items() if result[0] is not True} == {}


class Bare(Countdown):
    """Has no optional member."""

    splits = None  # type: ignore[assignment]
    frozen = None  # type: ignore[assignment]
    checks = None  # type: ignore[assignment]
    canonical = None  # type: ignore[assignment]
    exploits = None  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        if name == "splits":
            raise AttributeError(name)
        return super().__getattribute__(name)


def test_what_an_environment_leaves_out_is_told_and_not_held_against_it() -> None:
    found = outcomes(Bare())
    assert False not in {passed for passed, _ in found.values()}
    assert {name: detail for name, (passed, detail) in found.items() if passed is None} == {
        "anchors are what was frozen": "no frozen()",
        "anchors are not trained on": "no split 'train' beside others",
        "checks speak four words": "no checks()",
        "canonical form is stable": "no canonical()",
        "exploits do not pay": "no exploits()",
    }


def _episodes(change: Callable[[Sequence[Episode]], Sequence[Episode]], split: str) -> Callable[..., Sequence[Episode]]:
    def episodes(self: Countdown, name: str) -> Sequence[Episode]:
        own = Countdown.episodes(self, name)
        return change(own) if name == split else own

    return episodes


COUNTER = itertools.count()


def _scored(value: Callable[[], float]) -> Reward:
    return Reward([Component("odd", lambda action, episode: value())], Countdown.reward.gates, version="odd")


def _raises(error: Exception) -> Callable[..., Any]:
    def member(*_: Any) -> Any:
        raise error

    return member


class Drifting(Reward):
    """A reward that calls itself by another name each time."""

    @property
    def digest(self) -> str:
        return str(next(COUNTER))


BREAKAGES: Mapping[str, tuple[dict[str, Any], str]] = {
    "splits hold episodes, each once": ({"episodes": _episodes(lambda own: [], "dev")}, "'dev' is empty"),
    "an unknown split is refused": ({"episodes": lambda *_: Countdown().episodes("dev")}, "answers"),
    "anchors are what was frozen": ({"episodes": _episodes(lambda own: own[1:], "dev")}, r"1 missing \(dev-000\)"),
    "anchors are not trained on": (
        {"episodes": _episodes(lambda own: [*own, Countdown().episodes("dev")[0]], "train")},
        "dev-000 ~ dev/dev-000",
    ),
    "episodes travel as JSON": (
        {"episodes": _episodes(lambda own: [replace(e, data={**e.data, 1: "x"}) for e in own], "dev")},
        "another one|TypeError",
    ),
    "prompts are text": ({"prompt": lambda *_: " "}, "the prompt is str"),
    "the oracle's answer is valid": ({"oracle": lambda *_: "1 +"}, "not valid"),
    "floor below ceiling": ({"random": Countdown.oracle}, r"random earns 1\.000, the oracle 1\.000"),
    "scores are deterministic": ({"reward": _scored(lambda: next(COUNTER) % 7 / 7)}, "the same completion earns"),
    "rewards are bounded": ({"reward": _scored(lambda: 1.5)}, r"outside \[0, 1\]"),
    "garbage is no answer": (
        {"parse": lambda self, text, e: Countdown.parse(self, self.oracle(e), e)},
        "nothing earns",
    ),
    "the digest names the reward": (
        {"reward": Drifting(Countdown.reward.components, Countdown.reward.gates)},
        "judged under another digest than",
    ),
    "checks speak four words": ({"checks": lambda *_: {"a": "PASS"}}, "'PASS'"),
    "canonical form is stable": ({"canonical": lambda *_: str(next(COUNTER))}, "canonical forms"),
    "exploits do not pay": (
        {"exploits": lambda self: [Exploit("gift", e := self.episodes("dev")[0], self.oracle(e))]},
        r"gift earns 1\.000",
    ),
}


@pytest.mark.parametrize("requirement", BREAKAGES)
def test_each_requirement_fails_when_it_is_broken(requirement: str) -> None:
    members, why = BREAKAGES[requirement]
    env = type("Broken", (Countdown,), members)()
    passed, detail = outcomes(env)[requirement]
    assert passed is False
    assert re.search(why, detail), detail


def test_a_persons_answer_need_not_be_the_best() -> None:
    members = {"oracle": lambda *_: "1 +", "is_ceiling": lambda self, episode: False}
    found = outcomes(type("Recorded", (Countdown,), members)())
    assert found["the oracle's answer is valid"][0] is True
    assert found["floor below ceiling"][0] is True


def test_a_crash_is_a_broken_requirement_and_the_rest_is_still_asked() -> None:
    env = type("Crashing", (Countdown,), {"prompt": _raises(RecursionError("too deep"))})()
    found = outcomes(env)
    assert found["prompts are text"] == (False, "RecursionError: too deep")
    assert found["floor below ceiling"][0] is True


def test_complaints_are_counted_and_bounded() -> None:
    env = type("Silent", (Countdown,), {"prompt": lambda *_: ""})()
    _, detail = outcomes(env)["prompts are text"]
    assert detail.endswith("(and 21 more)")
    assert len(detail) < 300
