"""Judges an evaluated configuration by an episode's policy."""

from __future__ import annotations

from typing import Any

from rl_gym.hcl import HclError
from rl_gym.iac.context import Context
from rl_gym.iac.intent.plan_document import plan_document
from rl_gym.iac.intent.rego import policy_passes

__all__ = ["MOST_CHARACTERS", "MOST_RESOURCES", "fits_policy"]

MOST_RESOURCES = 32
"""The most resource instances that a policy is asked about: its loops may take the number to a high power.

The references of IaC-Eval have at most 29.
"""
MOST_CHARACTERS = 1 << 20
"""The most text and values in a document that a policy is asked about."""


def fits_policy(context: Context, policy: str) -> bool:
    """Whether a policy holds of what the configuration surely creates; nothing holds of one that is beyond the bounds.

    Raises PolicyError where the policy fails of itself, whatever the configuration.
    """
    configuration = context.configuration
    if context.module is None or len(configuration.resources()) + len(configuration.data()) > MOST_RESOURCES:
        return False
    try:
        document = plan_document(configuration, context.module, only_created=True)
    except HclError:
        return False
    return _within(document) and policy_passes(policy, document)


def _within(document: Any) -> bool:
    """Whether a document stays within MOST_CHARACTERS, found without writing it."""
    left, pending = MOST_CHARACTERS, [document]
    while pending:
        item = pending.pop()
        left -= len(item) if isinstance(item, str) else 1
        if left < 0:
            return False
        if isinstance(item, dict):
            pending += [*item, *item.values()]
        elif isinstance(item, list):
            pending += item
    return True
