"""Severities of a project's own: how bad it finds what a rule finds, or that it does not want to hear of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

from rl_gym.iac.triage.issues import Issue, JudgedModule, Suppression
from rl_gym.iac.verdicts import Severity

__all__ = ["LEVELS", "Level", "weighed"]

Level = Severity | Literal["off"]
LEVELS: tuple[Level, ...] = ("critical", "high", "medium", "low", "off")


def weighed(modules: Iterable[JudgedModule], levels: Mapping[str, Level]) -> list[JudgedModule]:
    """The modules with the severities that `levels` gives to rules by name; an issue of one that is off is suppressed.

    No gate, share or reward is changed: they are what they were judged by.
    """
    return [replace(module, issues=[_weighed(issue, levels) for issue in module.issues]) for module in modules]


def _weighed(issue: Issue, levels: Mapping[str, Level]) -> Issue:
    level = levels.get(issue.rule, issue.severity)
    if level == "off":
        return replace(issue, suppression=Suppression("off", "the project turned this rule off"))
    return replace(issue, severity=level)
