"""Families of checks, so that a gain in one kind of safety cannot hide a loss in another."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rl_gym.gym.pairing import Measure, values_by_episode
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import Interval, bootstrap_mean, differences, holm, p_below

__all__ = ["FamilyChange", "family_changes", "family_of"]


@dataclass(frozen=True, slots=True)
class FamilyChange:
    """The paired change of a family's pass share, and the p-value, after Holm, that it is worse than the tolerance."""

    change: Interval
    p: float


def family_of(check: str) -> str:
    """The family that a check's name tells: what stands before its first `_`, `-`, `.`, `:` or `/`."""
    return re.split(r"[_\-.:/]", check, maxsplit=1)[0]


def family_changes(
    incumbent: Sequence[RecordedCompletion],
    candidate: Sequence[RecordedCompletion],
    tolerance: float,
    family: Callable[[str], str] = family_of,
) -> dict[str, FamilyChange]:
    """The change of each family over the episodes where it applies.

    In an episode a family counts the checks of its own that apply to any sample of either policy; a sample's share is
    how many of those it passes. What a sample leaves out has not passed, so that writing less is no way to a better
    share.
    """
    where = _applicable([*incumbent, *candidate], family)
    changes = {}
    for name, checks in sorted(where.items()):
        before, after = (
            values_by_episode((r for r in records if r.episode_hash in checks), _pass_share(checks))
            for records in (incumbent, candidate)
        )
        changes[name] = differences(before, after)
    adjusted = holm({name: p_below(change, -tolerance) for name, change in changes.items()})
    return {name: FamilyChange(bootstrap_mean(change), adjusted[name]) for name, change in changes.items()}


def _applicable(
    records: Sequence[RecordedCompletion], family: Callable[[str], str]
) -> Mapping[str, Mapping[str, set[str]]]:
    """Family to episode to the checks that apply there."""
    where: dict[str, dict[str, set[str]]] = {}
    for record in records:
        for check, verdict in record.checks.items():
            if verdict != "na":
                where.setdefault(family(check), {}).setdefault(record.episode_hash, set()).add(check)
    return where


def _pass_share(where: Mapping[str, set[str]]) -> Measure:
    def share(record: RecordedCompletion) -> float:
        checks = where[record.episode_hash]
        return sum(record.checks.get(check) == "pass" for check in checks) / len(checks)

    return share
