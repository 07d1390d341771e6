"""Whether a configuration does what the request asked for: its own checkable demands, or a Rego policy."""

from __future__ import annotations

from rl_gym.gym.core import Episode
from rl_gym.hcl import HclError
from rl_gym.iac.context import Context
from rl_gym.iac.intent.judgement import fits_policy
from rl_gym.iac.tasks.asked import share_met

__all__ = ["INTENT_VERSION", "POLICY", "intent"]

INTENT_VERSION = 2
"""Rises whenever the same configuration and episode would be judged otherwise; part of a reward's digest."""

POLICY = "rego"
"""Where `Episode.judging` has the text of a Rego policy."""


def intent(context: Context, episode: Episode) -> float | None:
    """The share of the episode's demands that hold, in [0, 1]; None where it makes none that can be checked.

    A policy holds or does not. Raises InfrastructureError for a policy that fails of itself.
    """
    if POLICY in episode.judging:
        return float(fits_policy(context, episode.judging[POLICY]))
    if episode.source != "parametric":
        return None
    try:
        return share_met(context, episode)
    except HclError:
        return 0.0
