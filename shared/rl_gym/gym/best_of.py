"""Best-of-n without asking again: what the best of n samples is worth on average, from samples that were recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rl_gym.gym.records import RecordedCompletion
from rl_gym.infra.errors import UsageError

__all__ = ["best_of", "expected_best"]


def expected_best(rewards: Sequence[float], n: int) -> float:
    """The mean of the highest reward over every choice of n among these, without replacement.

    That is an unbiased estimate of the best of n independent samples, as Chen et al. 2021 (arXiv:2107.03374) have it
    for pass@k. Raises UsageError for fewer rewards than n.
    """
    if not 1 <= n <= len(rewards):
        raise UsageError(f"the best of {n} cannot be told from {len(rewards)} samples")
    choices = math.comb(len(rewards), n)
    ordered = sorted(rewards)
    # The i-th lowest is the best of those choices whose other n - 1 lie below it.
    return math.fsum(reward * math.comb(place, n - 1) / choices for place, reward in enumerate(ordered))


def best_of(records: Sequence[RecordedCompletion], n: int) -> dict[str, list[float]]:
    """By episode, what the best of n sampled completions is worth, chosen by its reward; one policy's records.

    Episodes of which fewer than n samples were scored are left out.
    """
    rewards: dict[str, list[float]] = {}
    for record in records:
        if not record.greedy:
            rewards.setdefault(record.episode_hash, []).append(record.breakdown.reward)
    return {episode: [expected_best(own, n)] for episode, own in rewards.items() if len(own) >= n}
