"""A standard makes an environment by name, and nothing that is asked for is dropped in silence."""

from __future__ import annotations

import pytest

from rl_gym.gym.registry import get_env
from rl_gym.iac.rules import Ruleset, get_ruleset
from rl_gym.iac.rules.registry import make_ruleset
from rl_gym.iac.standard import Standard
from rl_gym.infra.errors import NotFoundError, UsageError


class Generated:
    """A source of rulesets that are not built in."""

    def ruleset(self, name: str) -> Ruleset:
        return make_ruleset(name, get_ruleset("seed18").rules[:3])


def test_a_standard_is_the_environment_under_its_ruleset_and_profile() -> None:
    assert Standard().make().reward.digest == get_env("iac").reward.digest
    strict = Standard(ruleset="seed18", profile="seed@1").make()
    assert strict.reward.digest == get_env("iac", ruleset="seed18", profile="seed@1").reward.digest


def test_a_ruleset_that_is_not_built_in_comes_from_the_source() -> None:
    made = Standard(ruleset="mine").make(Generated())
    assert made.reward.digest != Standard().make().reward.digest
    with pytest.raises(NotFoundError, match="no ruleset 'mine'"):
        Standard(ruleset="mine").make()


def test_an_environment_without_rulesets_takes_the_default_alone() -> None:
    assert Standard("countdown").make().name == "countdown"
    with pytest.raises(UsageError, match="'countdown' has no rulesets: leave 'ruleset' out"):
        Standard("countdown", ruleset="seed18").make()
    with pytest.raises(UsageError, match="'countdown' has no profiles: leave 'profile' out"):
        Standard("countdown", profile="seed@1").make()


def test_an_environment_that_there_is_not_is_told() -> None:
    with pytest.raises(NotFoundError, match="unknown environment 'contdown'"):
        Standard("contdown").make()
