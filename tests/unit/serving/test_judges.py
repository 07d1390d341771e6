"""The judge in this process: what the environment says, under the standard that is asked for and no other."""

from __future__ import annotations

import asyncio

import pytest

from rl_gym.gym.core import Episode
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.serving.judges import LocalJudge, Standard, environment
from rl_gym.wire import Fixed, Scorecard

VOLUME = 'resource "aws_ebs_volume" "x" {\n  availability_zone = "eu-west-1a"\n  size = 1\n}\n'
EPISODE = Episode("e", "a volume", data={"required": ["aws_ebs_volume"]})
STANDARDS = [Standard(), Standard(ruleset="seed18", profile="seed@1")]


@pytest.mark.parametrize("standard", STANDARDS)
def test_it_judges_and_fixes_as_the_environment_does(standard: Standard) -> None:
    judge, env = LocalJudge(), standard.make()
    cards = asyncio.run(judge.score(standard, EPISODE, [VOLUME, ""]))
    assert cards == [Scorecard.of(env, EPISODE, VOLUME), Scorecard.of(env, EPISODE, "")]
    assert asyncio.run(judge.fix(standard, EPISODE, VOLUME)) == Fixed.of(env, EPISODE, VOLUME)


def test_an_environment_is_made_once_a_standard() -> None:
    assert environment(Standard()) is environment(Standard())
    assert environment(STANDARDS[0]).reward.digest != environment(STANDARDS[1]).reward.digest


def test_what_cannot_be_asked_is_refused_and_not_dropped() -> None:
    with pytest.raises(UsageError, match="'countdown' has no rulesets"):
        asyncio.run(LocalJudge().score(Standard("countdown", ruleset="seed18"), EPISODE, ["1"]))
    with pytest.raises(NotFoundError, match="unknown environment 'nowhere'"):
        asyncio.run(LocalJudge().fix(Standard("nowhere"), EPISODE, "1"))
