"""Recorded completions lined up: by split, by policy, by episode, and refused where they cannot be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from rl_gym.gym.records import RecordedCompletion
from rl_gym.infra.errors import UsageError

__all__ = [
    "MEASURES",
    "Measure",
    "Splits",
    "by_split_and_policy",
    "check_comparable",
    "missing_samples",
    "select",
    "values_by_episode",
]

Measure = Callable[[RecordedCompletion], float]
Splits = Mapping[str, Mapping[str, Sequence[RecordedCompletion]]]
"""Split to policy to records."""

MEASURES: Mapping[str, Measure] = {
    "reward": lambda record: record.breakdown.reward,
    "gate_rate": lambda record: float(not record.breakdown.gated),
    "valid_rate": lambda record: float(record.breakdown.valid),
}


def by_split_and_policy(records: Iterable[RecordedCompletion]) -> dict[str, dict[str, list[RecordedCompletion]]]:
    """Records by split, then by policy, each in the order of first appearance."""
    groups: dict[str, dict[str, list[RecordedCompletion]]] = {}
    for record in records:
        groups.setdefault(record.split, {}).setdefault(record.policy, []).append(record)
    return groups


def select(records: Iterable[RecordedCompletion], policy: str) -> list[RecordedCompletion]:
    """The records of one policy; UsageError, with the policies that there are, where it has none."""
    everything = list(records)
    chosen = [record for record in everything if record.policy == policy]
    if not chosen:
        known = dict.fromkeys(record.policy for record in everything)
        raise UsageError(f"no recorded completions of policy {policy!r} (there are: {', '.join(known) or 'none'})")
    return chosen


def values_by_episode(records: Iterable[RecordedCompletion], measure: Measure) -> dict[str, list[float]]:
    """A number of each record, grouped by the hash of its episode: the clusters of every interval."""
    values: dict[str, list[float]] = {}
    for record in records:
        values.setdefault(record.episode_hash, []).append(measure(record))
    return values


def missing_samples(records: Iterable[RecordedCompletion]) -> int:
    """How many samples of one policy's records are missing: gaps against the fullest episode, decoding by decoding."""
    counts = {True: Counter[str](), False: Counter[str]()}
    for record in records:
        counts[record.greedy][record.episode_hash] += 1
    episodes = counts[True].keys() | counts[False].keys()
    return sum(len(episodes) * max(own.values()) - own.total() for own in counts.values() if own)


def check_comparable(splits: Splits) -> None:
    """Raise UsageError unless rewards may be compared: one environment and one reward digest judged them all, and in
    each split every policy answered the same episodes, each sample once."""
    everything = (record for policies in splits.values() for own in policies.values() for record in own)
    judges = sorted({f"{record.environment}:{record.breakdown.digest}" for record in everything})
    if len(judges) > 1:
        raise UsageError(f"these rewards are not comparable, they were decided by {', '.join(judges)}")
    for split, policies in splits.items():
        first: tuple[str, dict[str, str]] | None = None
        for policy, own in policies.items():
            episodes = _episodes(split, policy, own)
            if first is None:
                first = policy, episodes
            elif odd := sorted((first[1] | episodes)[episode] for episode in first[1].keys() ^ episodes.keys()):
                raise UsageError(
                    f"split {split!r}: {first[0]!r} and {policy!r} were not asked the same episodes: "
                    f"{len(odd)} stand on one side alone, the first is {odd[0]}"
                )


def _episodes(split: str, policy: str, records: Sequence[RecordedCompletion]) -> dict[str, str]:
    """Hash to id; UsageError where a sample of an episode stands twice."""
    seen: set[tuple[str, bool, int]] = set()
    for record in records:
        key = record.episode_hash, record.greedy, record.sample
        if key in seen:
            how = "greedy sample" if record.greedy else "sample"
            raise UsageError(f"split {split!r}, {policy!r}: {how} {record.sample} of {record.episode_id} stands twice")
        seen.add(key)
    return {record.episode_hash: record.episode_id for record in records}
