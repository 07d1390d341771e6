"""Which kinds of parts may stand together in training, and which combinations are held out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from itertools import combinations as _choose

from rl_gym.iac.tasks.builders import BUILDERS

__all__ = ["MAX_PARTS", "combinations", "held_out"]

MAX_PARTS = 4

_ANCHORED = (
    "bucket",
    "security_group",
    "database",
    "cluster",
    "server",
    "template",
    "volume",
    "table",
    "logs",
    "network",
    "key",
    "policy",
    "role_policy",
)
"""The kinds that held-out stacks are drawn from. A new builder joins training alone: the anchor stays what it was."""

_HELD_OUT_SINGLES = frozenset({"cluster", "role_policy", "volume"})
"""Kinds that training only ever sees beside others."""


def held_out(kinds: Iterable[str]) -> bool:
    """Whether a combination belongs to the held-out quarter: by its own hash, so that no later kind moves it."""
    names = sorted(kinds)
    if len(names) == 1:
        return names[0] in _HELD_OUT_SINGLES
    return hashlib.sha256("+".join(names).encode()).digest()[0] % 4 == 0


@cache
def combinations(size: int, *, held: bool) -> tuple[tuple[str, ...], ...]:
    """All held-out, or all other, combinations of `size` kinds, in a fixed order."""
    return tuple(kinds for kinds in _choose(_ANCHORED if held else BUILDERS, size) if held_out(kinds) == held)
