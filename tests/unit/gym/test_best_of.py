"""Best-of-n from recorded samples: what every choice of n would have given, on average."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import pytest

from rl_gym.gym.best_of import best_of, expected_best
from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.gym.examples.countdown import make
from rl_gym.infra.errors import UsageError

REWARDS = [0.2, 1.0, 0.0, 0.2, 0.7]


@pytest.mark.parametrize("n", range(1, 6))
def test_it_is_the_mean_over_every_choice(n: int) -> None:
    assert expected_best(REWARDS, n) == pytest.approx(fmean(max(chosen) for chosen in combinations(REWARDS, n)))


@pytest.mark.parametrize("n", [0, 6])
def test_more_than_there_are_cannot_be_chosen(n: int) -> None:
    with pytest.raises(UsageError, match=f"the best of {n} cannot be told from 5 samples"):
        expected_best(REWARDS, n)


def test_sampled_completions_alone_count_and_each_episode_for_itself() -> None:
    env = make()
    episodes: list[Episode] = list(env.episodes("train")[:2])
    right, wrong = (
        evaluate_reference(env, episodes, "x", answer, split="dev") for answer in (env.oracle, lambda episode: "1")
    )
    numbered = [one.model_copy(update={"sample": 1}) for one in wrong]
    found = best_of([*right, *numbered], 2)
    assert found == {episode.hash: [1.0] for episode in episodes}
    assert best_of(right, 2) == {}
