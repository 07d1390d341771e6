"""Waivers: findings that somebody answers for, with a reason and until a day."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from rl_gym.iac.triage.issues import Issue, JudgedModule, Suppression

__all__ = ["Waiver", "waived"]


@dataclass(frozen=True)
class Waiver:
    """What is waived, why, and the last day on which it is.

    `rule`, `address` and `path` are patterns in which `*` stands for any text. `path` is as seen from `folder`;
    `origin` says where the waiver is written.
    """

    rule: str
    reason: str
    expires: date
    address: str = "*"
    path: str = "*"
    folder: str = "."
    origin: str = ""

    def covers(self, issue: Issue) -> bool:
        """Whether an issue is what the waiver is about."""
        rule, address, path = self._patterns
        return bool(
            rule.fullmatch(issue.rule) and address.fullmatch(issue.address) and path.fullmatch(self._seen(issue))
        )

    def __str__(self) -> str:
        where = "" if self.path == "*" else f" in {self.path}"
        return f"{self.origin}: the waiver of {self.rule} for {self.address}{where}"

    @cached_property
    def _patterns(self) -> Sequence[re.Pattern[str]]:
        # Not fnmatch: the brackets of `aws_instance.web[0]` are meant as they stand.
        return [
            re.compile(".*".join(map(re.escape, pattern.split("*"))))
            for pattern in (self.rule, self.address, self.path)
        ]

    def _seen(self, issue: Issue) -> str:
        return os.path.relpath(os.path.abspath(issue.path), os.path.abspath(self.folder)).replace(os.sep, "/")


def waived(
    modules: Iterable[JudgedModule], waivers: Sequence[Waiver], today: date, *, whole: bool
) -> tuple[list[JudgedModule], list[str]]:
    """The modules with what is waived suppressed, and what to say about waivers that have ended or are for nothing.

    `whole` tells that all of the project was scanned: only then is it known that a waiver is for nothing.
    """
    used: set[int] = set()
    marked = [
        replace(module, issues=[_marked(issue, waivers, today, used) for issue in module.issues]) for module in modules
    ]
    return marked, [*_complaints(waivers, today, used, whole)]


def _marked(issue: Issue, waivers: Sequence[Waiver], today: date, used: set[int]) -> Issue:
    if issue.suppression is not None:
        return issue
    covering = [position for position, waiver in enumerate(waivers) if waiver.covers(issue)]
    used.update(covering)
    for waiver in (waivers[position] for position in covering):
        if today <= waiver.expires:
            reason = f"waived until {waiver.expires}: {waiver.reason}"
            return replace(issue, suppression=Suppression("waived", reason))
    return issue


def _complaints(waivers: Sequence[Waiver], today: date, used: set[int], whole: bool) -> Iterable[str]:
    for position, waiver in enumerate(waivers):
        if today > waiver.expires:
            counts = "what it covers counts again" if position in used else "delete it"
            yield f"{waiver} ended on {waiver.expires}: {counts}"
        elif whole and position not in used:
            yield f"{waiver} is for nothing that was found: delete it"
