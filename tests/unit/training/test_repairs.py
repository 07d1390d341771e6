"""Two-pass repair, measured: the better of two answers counts, and what failed and was not mended stands as it was."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.registry import get_env
from rl_gym.iac.tasks.parametric import nano_episode
from rl_gym.training.repairs import due, measure_repairs

ENV: Any = get_env("iac", ruleset="seed18", profile="default@1")
EPISODES = {episode.hash: episode for episode in (nano_episode(seed) for seed in range(4))}


def answers(policy: str, perfect: int) -> list[RecordedCompletion]:
    """The oracle's answers to the first `perfect` episodes, and the floor's to the others."""
    well = {episode.hash for episode in list(EPISODES.values())[:perfect]}

    def answer(episode: Episode) -> str:
        text: str = ENV.oracle(episode) if episode.hash in well else ENV.random(episode)
        return text

    return evaluate_reference(ENV, list(EPISODES.values()), policy, answer, split="synthetic")


def measured(second: list[RecordedCompletion]) -> dict[str, Any]:
    first = [*answers("incumbent", 1), *answers("candidate", 1)]
    return measure_repairs(ENV, first, second, EPISODES, incumbent="incumbent", candidate="candidate")


def test_what_fails_and_says_what_to_mend_is_due() -> None:
    assert {record.episode_hash for record in due(ENV, answers("sft", 1), EPISODES)} == set(list(EPISODES)[1:])


def test_a_turn_that_mends_all_ends_at_the_ceiling() -> None:
    found = measured([record for record in answers("candidate", 4) if record.episode_hash in list(EPISODES)[1:]])
    incumbent, candidate = found["policies"]["incumbent"], found["policies"]["candidate"]
    assert (candidate["due"], candidate["attempts"], candidate["converted"], candidate["improved"]) == (3, 3, 3, 3)
    assert (candidate["full"]["before"]["estimate"], candidate["full"]["after"]["estimate"]) == (0.25, 1.0)
    assert (incumbent["due"], incumbent["attempts"], incumbent["reward"]["gain"]["estimate"]) == (3, 0, 0)
    assert found["lift"]["full"]["before"]["estimate"] == 0
    assert found["lift"]["full"]["after"]["estimate"] == 0.75
    assert found["lift"]["reward"]["gain"]["estimate"] == pytest.approx(candidate["reward"]["gain"]["estimate"])
    assert found["lift"]["reward"]["after"]["n"] == 4


def test_a_turn_that_makes_it_worse_costs_nothing() -> None:
    worse = [
        record.model_copy(
            update={"breakdown": type(record.breakdown).from_dict({**record.breakdown.to_dict(), "reward": 0.0})}
        )
        for record in answers("candidate", 0)
    ]
    found = measured([record for record in worse if record.episode_hash in list(EPISODES)[1:]])["policies"]["candidate"]
    assert found["reward"]["gain"]["estimate"] == 0
    assert (found["attempts"], found["converted"], found["improved"]) == (3, 0, 0)
