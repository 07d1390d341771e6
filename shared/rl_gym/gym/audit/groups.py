"""Whether the samples of one episode still differ: without a difference a group-relative update learns nothing."""

from __future__ import annotations

from collections.abc import Iterator

from rl_gym.gym.audit.evidence import Evidence
from rl_gym.gym.audit.report import Metric, measured, not_measured
from rl_gym.gym.pairing import MEASURES, values_by_episode
from rl_gym.gym.statistics import wilson

__all__ = ["group_metrics"]

CEILING = 1 - 1e-9
MOST_DEAD = 0.9
SATURATED = "share of episodes whose samples all earn the full reward: nothing is left to learn there"
DEAD = (
    "share of episodes whose samples all earn the same, less than the full reward: the policy has stopped exploring, "
    f"or the reward does not see the difference; alarm where the whole interval lies over {MOST_DEAD}"
)


def group_metrics(evidence: Evidence) -> Iterator[Metric]:
    """Two metrics: groups at the ceiling, and groups without variance below it."""
    rewards = values_by_episode(evidence.sampled[evidence.policy], MEASURES["reward"]).values()
    groups = [group for group in rewards if len(group) > 1]
    if not groups:
        for name, how_to_read in (("groups.saturated", SATURATED), ("groups.dead", DEAD)):
            yield not_measured(name, "one sample an episode makes no group", how_to_read=how_to_read)
        return
    saturated = sum(min(group) >= CEILING for group in groups)
    dead = sum(max(group) == min(group) < CEILING for group in groups)
    yield measured("groups.saturated", wilson(saturated, len(groups)), how_to_read=SATURATED)
    interval = wilson(dead, len(groups))
    yield measured(
        "groups.dead",
        interval,
        how_to_read=DEAD,
        threshold=f"above {MOST_DEAD}",
        alarm=interval.low > MOST_DEAD,
    )
