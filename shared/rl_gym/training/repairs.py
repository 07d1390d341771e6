"""Two-pass repair, measured: what each policy is worth after one answer, and after a second attempt at what failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rl_gym.gym.core import Episode, environment_faults
from rl_gym.gym.pairing import select, values_by_episode
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import mean_interval, paired_difference
from rl_gym.serving.repair_turns import FULL_REWARD, repair_due

__all__ = ["due", "measure_repairs", "problems_of"]

_MEASURES: Mapping[str, Callable[[float], float]] = {
    "reward": lambda reward: reward,
    "full": lambda reward: float(reward >= FULL_REWARD),
}


def problems_of(env: Any, record: RecordedCompletion, episode: Episode) -> Sequence[str]:
    """What a second attempt at a recorded completion should mend."""
    with environment_faults(env, episode):
        problems: Sequence[str] = env.problems(env.parse(record.completion, episode), episode)
        return problems


def due(
    env: Any, completions: Sequence[RecordedCompletion], episodes: Mapping[str, Episode]
) -> list[RecordedCompletion]:
    """Those that failed and say what to mend; `episodes` by content hash."""
    return [
        record
        for record in completions
        if record.breakdown.reward < FULL_REWARD
        and repair_due(env, record.breakdown.reward, problems_of(env, record, episodes[record.episode_hash]))
    ]


def measure_repairs(
    env: Any,
    first: Sequence[RecordedCompletion],
    second: Sequence[RecordedCompletion],
    episodes: Mapping[str, Episode],
    *,
    incumbent: str,
    candidate: str,
) -> dict[str, Any]:
    """Both policies at pass@1 and with a repair turn, over their sampled completions; every interval by episode.

    The better of the two answers counts, as in serving. Per policy: mean `reward` and the share of `full` passes
    before and after, the paired `gain` of the turn, how many were `due` one, had an `attempt`, were `converted` to a
    full pass and `improved`. `lift` is candidate less incumbent, before, after, and in the gain.
    """
    sides = {name: _Side(env, first, second, episodes, name) for name in (incumbent, candidate)}
    before, after = sides[incumbent], sides[candidate]
    lift = {
        name: {
            when: paired_difference(before.values(name, when), after.values(name, when)).to_dict()
            for when in ("before", "after", "gain")
        }
        for name in _MEASURES
    }
    return {
        "judge": f"{first[0].environment}:{first[0].breakdown.digest}",
        "policies": {name: side.to_dict() for name, side in sides.items()},
        "lift": lift,
    }


class _Side:
    """One policy's sampled completions and their second attempts."""

    def __init__(
        self,
        env: Any,
        first: Sequence[RecordedCompletion],
        second: Sequence[RecordedCompletion],
        episodes: Mapping[str, Episode],
        policy: str,
    ) -> None:
        self._first = [record for record in select(first, policy) if not record.greedy]
        again = [record for record in second if record.policy == policy and not record.greedy]
        self._again = {(record.episode_hash, record.sample): record.breakdown.reward for record in again}
        self._due = len(due(env, self._first, episodes))

    def values(self, measure: str, when: str) -> dict[str, list[float]]:
        """By episode: `before` the repair turn, `after` it, or what it gains."""
        value = _MEASURES[measure]

        def of(record: RecordedCompletion) -> float:
            before, after = value(record.breakdown.reward), value(self._best(record))
            return {"before": before, "after": after, "gain": after - before}[when]

        return values_by_episode(self._first, of)

    def _best(self, record: RecordedCompletion) -> float:
        again = self._again.get((record.episode_hash, record.sample))
        return record.breakdown.reward if again is None else max(record.breakdown.reward, again)

    def to_dict(self) -> dict[str, Any]:
        figures = {
            name: {when: mean_interval(self.values(name, when)).to_dict() for when in ("before", "after", "gain")}
            for name in _MEASURES
        }
        tried = [record for record in self._first if (record.episode_hash, record.sample) in self._again]
        return {
            **figures,
            "n": len(self._first),
            "due": self._due,
            "attempts": len(tried),
            "converted": sum(self._best(record) >= FULL_REWARD for record in tried),
            "improved": sum(self._best(record) > record.breakdown.reward for record in tried),
        }
