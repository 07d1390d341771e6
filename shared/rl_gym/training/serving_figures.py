"""A model as it serves: the best of several samples, and a second answer to what failed, each with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rl_gym.gym.best_of import best_of
from rl_gym.gym.pairing import MEASURES, values_by_episode
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import Interval, mean_interval, paired_difference

__all__ = ["FILE", "serving_figures"]

FILE = "serving.json"
"""In the folder of `evaluate`."""


def serving_figures(
    records: Sequence[RecordedCompletion], *, n: int | None, second: Sequence[RecordedCompletion] | None
) -> dict[str, Any]:
    """For each policy pass@1 over its samples, the best of `n` of them, and a repair turn after each; rewards.

    `second` has the second answers of models, under the numbers of the first; the better of the two counts, as in
    serving. None where no model was given such a turn. Each figure has its `gain` over pass@1 beside it, paired by
    episode. Every interval is over episodes.
    """
    policies: dict[str, Any] = {}
    for policy in dict.fromkeys(record.policy for record in records):
        own = [record for record in records if record.policy == policy and not record.greedy]
        single = values_by_episode(own, MEASURES["reward"])
        figures: dict[str, Any] = {"n": len(own), "pass@1": mean_interval(single).to_dict()}
        chosen = best_of(own, n) if n is not None else {}
        if chosen:
            figures["best_of"] = _figure(single, chosen)
        if second is not None and any(record.model for record in own):
            again = [record for record in second if record.policy == policy and not record.greedy]
            figures["repair"] = {**_figure(single, _repaired(own, again)), "attempts": len(again)}
        policies[policy] = figures
    return {"best_of": n, "policies": policies}


def _figure(single: Mapping[str, Sequence[float]], better: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    reward: Interval = mean_interval(better)
    gain = paired_difference({key: single[key] for key in better}, better)
    return {"reward": reward.to_dict(), "gain": gain.to_dict()}


def _repaired(first: Sequence[RecordedCompletion], second: Sequence[RecordedCompletion]) -> dict[str, list[float]]:
    again = {(one.episode_hash, one.sample): one.breakdown.reward for one in second}
    found: dict[str, list[float]] = {}
    for record in first:
        reward = record.breakdown.reward
        best = max(reward, again.get((record.episode_hash, record.sample), reward))
        found.setdefault(record.episode_hash, []).append(best)
    return found
