"""What the training log itself gives away, before any completion is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["training_alarms"]

LEAST_STEPS = 8
DEAD_GROUPS = 0.9
CEILING = 0.95


def training_alarms(log: Sequence[Mapping[str, float]]) -> list[str]:
    """Alarms from the rows that TRL's GRPOTrainer logs, in order; rows without its reward columns are passed over.

    Reward-variance collapse: over the last quarter of the steps, the share of groups without any spread
    (`frac_reward_zero_std`) is at least 0.9 while the mean reward is under 0.95. At the ceiling no spread is success.
    Fewer than eight logged steps give no alarm.
    """
    steps = [row for row in log if "frac_reward_zero_std" in row and "reward" in row]
    if len(steps) < LEAST_STEPS:
        return []
    last = steps[-(len(steps) // 4) :]
    dead, reward = (sum(row[name] for row in last) / len(last) for name in ("frac_reward_zero_std", "reward"))
    if dead < DEAD_GROUPS or reward >= CEILING:
        return []
    return [
        f"reward variance collapsed: over the last {len(last)} logged steps {dead:.0%} of the groups had no spread, "
        f"at a mean reward of {reward:.2f}"
    ]
