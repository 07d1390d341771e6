"""Recorded completions under another judge: the same texts, another measure, and no mistaking one for the other."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rl_gym.gym.core import Component, Episode, InfrastructureError, Reward
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.gym.examples.countdown import Countdown
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.rescoring import rescore
from rl_gym.infra.errors import UsageError


class Lenient(Countdown):
    """Pays for every answer that is an expression."""

    reward = Reward(components=(Component("any", lambda action, episode: 1.0),), gates=(), version="lenient@1")


@pytest.fixture
def episodes(countdown: Countdown) -> Sequence[Episode]:
    return countdown.episodes("dev")[:12]


@pytest.fixture
def recorded(countdown: Countdown, episodes: Sequence[Episode]) -> list[RecordedCompletion]:
    answers = {"wrong": lambda episode: str(episode.data["numbers"][0]), "oracle": countdown.oracle}
    return [
        record
        for name, answer in answers.items()
        for record in evaluate_reference(countdown, episodes, name, answer, split="dev")
    ]


def by_hash(episodes: Sequence[Episode]) -> dict[str, Episode]:
    return {episode.hash: episode for episode in episodes}


def test_another_reward_judges_the_same_texts(recorded: list[RecordedCompletion], episodes: Sequence[Episode]) -> None:
    rescored = rescore(Lenient(), recorded, by_hash(episodes))
    assert [r.completion for r in rescored.after] == [r.completion for r in recorded]
    assert {r.breakdown.reward for r in rescored.after} == {1.0}
    changes = {change.policy: change.reward for change in rescored.changes}
    assert changes["oracle"].estimate == 0.0
    assert changes["wrong"].low > 0
    assert changes["wrong"].n == 12
    assert not rescored.comparable
    assert "are different measures, and their scores are not comparable" in rescored.caution


def test_the_same_reward_changes_nothing(
    recorded: list[RecordedCompletion], episodes: Sequence[Episode], countdown: Countdown
) -> None:
    rescored = rescore(countdown, recorded, by_hash(episodes))
    assert rescored.after == recorded
    assert rescored.comparable
    assert rescored.to_dict()["before"] == rescored.to_dict()["after"]
    assert "both were judged by countdown:" in rescored.caution


def test_an_episode_that_is_not_there_is_named(
    recorded: list[RecordedCompletion], episodes: Sequence[Episode], countdown: Countdown
) -> None:
    with pytest.raises(UsageError, match=f"has no episode {episodes[0].id} with the hash"):
        rescore(countdown, recorded, by_hash(episodes[1:]))


def test_records_of_another_environment_are_refused(
    recorded: list[RecordedCompletion], episodes: Sequence[Episode], countdown: Countdown
) -> None:
    foreign = [record.model_copy(update={"environment": "iac"}) for record in recorded]
    with pytest.raises(UsageError, match="is an episode of 'iac', not of 'countdown'"):
        rescore(countdown, foreign, by_hash(episodes))


def test_a_judge_that_fails_leaves_no_gap_and_no_zero(
    recorded: list[RecordedCompletion], episodes: Sequence[Episode]
) -> None:
    class Broken(Countdown):
        def checks(self, action: object, episode: Episode) -> dict[str, str]:
            return {"luck": "perhaps"}

    with pytest.raises(InfrastructureError, match=r"wrong, .*: not scored: "):
        rescore(Broken(), recorded, by_hash(episodes), retries=0)
