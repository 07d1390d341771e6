"""The ladder: how each policy of an evaluation does, and what each rung adds to the one before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rl_gym.gym.pairing import (
    MEASURES,
    by_split_and_policy,
    check_comparable,
    missing_samples,
    select,
    values_by_episode,
)
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import Interval, mean_interval, paired_difference

__all__ = ["LadderRow", "Level", "Lift", "ladder", "lift", "lifts"]


@dataclass(frozen=True, slots=True)
class Level:
    """How well one policy does under one way of decoding. `n` is completions; intervals are clustered by episode."""

    n: int
    reward: Interval
    gate_rate: Interval
    valid_rate: Interval

    def to_dict(self) -> dict[str, Any]:
        rates = {name: getattr(self, name).to_dict() for name in MEASURES}
        return {"n": self.n, **rates}


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One rung: a policy over the episodes of one split, sampled and greedy (None where it was not decoded so)."""

    policy: str
    split: str
    episodes: int
    sampled: Level | None
    greedy: Level | None
    missing: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "split": self.split,
            "episodes": self.episodes,
            "sampled": self.sampled and self.sampled.to_dict(),
            "greedy": self.greedy and self.greedy.to_dict(),
            "missing": self.missing,
        }


@dataclass(frozen=True, slots=True)
class Lift:
    """The paired difference in sampled reward from one policy to another, over the same episodes."""

    split: str
    before: str
    after: str
    reward: Interval

    def to_dict(self) -> dict[str, Any]:
        return {"split": self.split, "before": self.before, "after": self.after, "reward": self.reward.to_dict()}


def ladder(records: Sequence[RecordedCompletion]) -> list[LadderRow]:
    """One row a split and policy, in the order in which they appear in the records.

    Raises UsageError where policies of a split were not asked the same episodes, where a sample stands twice, or where
    rewards with different digests meet.
    """
    splits = by_split_and_policy(records)
    check_comparable(splits)
    rows = []
    for split, policies in splits.items():
        for policy, own in policies.items():
            sampled, greedy = (_level([r for r in own if r.greedy is wanted]) for wanted in (False, True))
            episodes = len({record.episode_hash for record in own})
            rows.append(LadderRow(policy, split, episodes, sampled, greedy, missing_samples(own)))
    return rows


def lift(records: Sequence[RecordedCompletion], before: str, after: str, *, split: str) -> Lift:
    """The paired lift in sampled reward between two policies of a split, with its 95% interval.

    Raises UsageError as `ladder` does, and where one of them has no sampled completion in the split.
    """
    sampled = [record for record in records if record.split == split and not record.greedy]
    first, second = select(sampled, before), select(sampled, after)
    check_comparable({split: {before: first, after: second}})
    rewards = (values_by_episode(own, MEASURES["reward"]) for own in (first, second))
    return Lift(split, before, after, paired_difference(*rewards))


def lifts(records: Sequence[RecordedCompletion]) -> list[Lift]:
    """The lift of each rung over the one before it, in the order of the records."""
    steps = []
    for split, policies in by_split_and_policy(records).items():
        names = list(policies)
        steps += [lift(records, *pair, split=split) for pair in pairwise(names)]
    return steps


def _level(records: Sequence[RecordedCompletion]) -> Level | None:
    if not records:
        return None
    rates = {name: mean_interval(values_by_episode(records, measure)) for name, measure in MEASURES.items()}
    return Level(n=len(records), **rates)
