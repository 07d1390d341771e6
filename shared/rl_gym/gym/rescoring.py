"""Recorded completions judged again by another reward, without the model that wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from rl_gym.gym.core import Environment, Episode, InfrastructureError, environment_faults
from rl_gym.gym.evaluation import judged
from rl_gym.gym.ladder import LadderRow, ladder
from rl_gym.gym.pairing import MEASURES, by_split_and_policy, values_by_episode
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.retry import attempt
from rl_gym.gym.statistics import Interval, paired_difference
from rl_gym.infra.errors import UsageError

__all__ = ["Change", "Rescored", "rescore"]


@dataclass(frozen=True, slots=True)
class Change:
    """The mean reward of a policy's sampled completions after less before, paired by episode."""

    split: str
    policy: str
    reward: Interval


@dataclass(frozen=True)
class Rescored:
    """The same completions under two judges; each list is a ladder of its own."""

    before: Sequence[RecordedCompletion]
    after: Sequence[RecordedCompletion]

    @property
    def judges(self) -> tuple[str, str]:
        """Environment and reward digest, before and after."""
        first, second = (f"{r[0].environment}:{r[0].breakdown.digest}" for r in (self.before, self.after))
        return first, second

    @property
    def comparable(self) -> bool:
        """Whether one and the same reward judged both times."""
        return self.judges[0] == self.judges[1]

    @cached_property
    def ladders(self) -> tuple[list[LadderRow], list[LadderRow]]:
        return ladder(self.before), ladder(self.after)

    @cached_property
    def changes(self) -> list[Change]:
        """One for each policy of each split that was sampled."""
        sampled = [[record for record in records if not record.greedy] for records in (self.before, self.after)]
        first, second = map(by_split_and_policy, sampled)
        return [
            Change(split, policy, paired_difference(_rewards(own), _rewards(second[split][policy])))
            for split, policies in first.items()
            for policy, own in policies.items()
        ]

    @property
    def caution(self) -> str:
        """How the two may be read together."""
        first, second = self.judges
        if self.comparable:
            return f"both were judged by {first}: a difference is the verifier's own, under one digest"
        return (
            f"{first} and {second} are different measures, and their scores are not comparable: compare policies "
            "within one ladder; a change tells where the two rewards disagree, not who got better"
        )

    def to_dict(self) -> dict[str, Any]:
        sides = zip(("before", "after"), self.judges, self.ladders, strict=True)
        return {
            **{name: {"judge": judge, "ladder": [row.to_dict() for row in rows]} for name, judge, rows in sides},
            "comparable": self.comparable,
            "changes": [
                {"split": change.split, "policy": change.policy, "reward": change.reward.to_dict()}
                for change in self.changes
            ],
        }


def rescore(
    env: Environment,
    records: Sequence[RecordedCompletion],
    episodes: Mapping[str, Episode],
    *,
    retries: int = 2,
) -> Rescored:
    """The same completions as `env` judges them, one record for each, in their order.

    `episodes` holds the records' episodes by content hash. Raises UsageError where the records are no ladder, are
    another environment's, or an episode is missing; InfrastructureError where a completion cannot be scored: a ladder
    with gaps of our own making could not be laid beside the one before.
    """
    ladder(records)
    after = []
    for record in records:
        if record.environment != env.name:
            raise UsageError(f"{record.episode_id} is an episode of {record.environment!r}, not of {env.name!r}")
        episode = episodes.get(record.episode_hash)
        if episode is None:
            raise UsageError(
                f"{env.name!r} has no episode {record.episode_id} with the hash {record.episode_hash[:12]} in split "
                f"{record.split!r}: give the run folder, which keeps its episodes, or the options that make it"
            )
        again = attempt(partial(_again, env, record, episode), retries)
        if isinstance(again, InfrastructureError):
            raise InfrastructureError(f"{record.policy}, {record.episode_id}: not scored: {again}")
        after.append(again)
    return Rescored(records, after)


def _again(env: Environment, record: RecordedCompletion, episode: Episode) -> RecordedCompletion:
    judgement = judged(env, record.completion, episode)
    with environment_faults(env, episode):
        return RecordedCompletion.model_validate({**dict(record), **judgement})


def _rewards(records: Sequence[RecordedCompletion]) -> dict[str, list[float]]:
    return values_by_episode(records, MEASURES["reward"])
