"""A hint names what is near, and else says where to look."""

from __future__ import annotations

from rl_gym.infra.hints import hint


def test_the_nearest_name_is_meant_and_without_one_there_is_other_advice() -> None:
    assert hint("ruelset", ("rules", "ruleset"), "look it up") == "did you mean 'ruleset'?"
    assert hint("x", ("rules", "ruleset"), "look it up") == "look it up"
    assert hint("x", (), "look it up") == "look it up"
