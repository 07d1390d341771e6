"""The hard conditions of the reward: what was asked for is built, nothing critical is wrong, the text can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rl_gym.iac.context import Context
from rl_gym.iac.equivalents import built
from rl_gym.iac.report import Finding


def builds_required(required: Sequence[str], context: Context) -> bool:
    """Whether every requested type is surely created and configured, as many times as the request lists it.

    True of an empty request. What only may be created, or is a stub, builds nothing.
    """
    return all(built(kind, context) >= times for kind, times in Counter(required).items())


def no_critical(results: Iterable[Finding]) -> bool:
    """Whether no critical rule fails; a verdict that is unknown closes no gate."""
    return not any(result.verdict == "fail" and result.severity == "critical" for result in results)
