"""What a scan has to say in one form: findings of rules, problems of the configuration, findings of other engines."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

from rl_gym.gym.core import content_hash
from rl_gym.iac.engines.report import EngineReport
from rl_gym.iac.report import Problem, ScanError, ScanReport
from rl_gym.iac.rules.registry import all_rules
from rl_gym.iac.triage.text import visible
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS, Severity

__all__ = ["PROBLEM_RULES", "Issue", "JudgedModule", "Suppression", "judged"]

BUILTIN = "builtin"

PROBLEM_RULES = {
    "schema": "The AWS provider knows every type, argument and block, and misses none that it requires",
    "duplicate": "Nothing is declared twice",
    "reference": "Every reference leads to something that is declared",
    "module": "The files of every local module that is called are there",
    "builds_required": "Every required type is built",
}
"""What stands beside the rules of a ruleset, by the name under which it is reported. Each is `critical`: Terraform, or
whoever asked, would refuse the whole configuration."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why an issue does not count: the baseline knows it, somebody waived it, or the project turned its rule off."""

    kind: Literal["known", "waived", "off"]
    reason: str


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong (`fail`) or cannot be told (`unknown`).

    `engine` is `builtin` for rules and problems. `path` is the file as the user would name it; `line` counts from 1,
    `column` too, or is 0 where it is not known.
    """

    rule: str
    address: str
    verdict: Literal["fail", "unknown"]
    severity: Severity
    path: str
    line: int
    reason: str
    fix: str = ""
    column: int = 0
    engine: str = BUILTIN
    suppression: Suppression | None = None

    @property
    def fingerprint(self) -> str:
        """Names the issue by what it is about, and not by its line: it survives edits above it."""
        return content_hash([self.engine, self.rule, self.address, self.path])[:16]

    @property
    def counts(self) -> bool:
        """Whether it is a failure that nothing excuses."""
        return self.verdict == "fail" and self.suppression is None

    def to_dict(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.__slots__}
        excuse = self.suppression
        return {**values, "suppression": excuse and {"kind": excuse.kind, "reason": excuse.reason}}


@dataclass(frozen=True, slots=True)
class JudgedModule:
    """A module as it is reported: its name, its issues file by file, the worst first, and why it was not read.

    `silences` tells of each engine that was asked and did not answer: that it found nothing means nothing. All texts
    but those of `report` are printable.
    """

    name: str
    report: ScanReport
    issues: Sequence[Issue] = ()
    errors: Sequence[ScanError] = ()
    silences: Mapping[str, str] = field(default_factory=dict)


def judged(
    report: ScanReport,
    *,
    name: str = ".",
    path: Callable[[str], str] = str,
    required: Sequence[str] = (),
    part: bool = False,
    first_file: str = "main.tf",
) -> JudgedModule:
    """A report as issues.

    `path` turns a file's name within the module into the name that the user knows it by. In a `part` of a module the
    rest may declare what a reference leads to, so that such a problem is `unknown`, as a module that was not read
    always is. `required` are the resource types that were asked for; that one is missing is said of `first_file`.
    """
    undecided = {"module", "reference"} if part else {"module"}
    problems = _problems([*report.problems, *report.unread], undecided)
    issues = [*_found(report), *problems, *_from_engines(report.engines)]
    if report.valid and not report.gates.get("builds_required", True):
        issues.append(_unbuilt(required, first_file))
    return JudgedModule(
        name=visible(name),
        report=report,
        issues=sorted((_shown(issue, path) for issue in issues), key=_order),
        errors=[
            replace(error, message=visible(error.message), filename=visible(path(error.filename)))
            for error in report.errors
        ],
        silences={
            engine.engine: visible(f"{engine.engine} did not answer ({engine.status}): {engine.detail}")
            for engine in report.engines
            if engine.status != "answered"
        },
    )


def _shown(issue: Issue, path: Callable[[str], str]) -> Issue:
    return replace(
        issue,
        rule=visible(issue.rule),
        address=visible(issue.address),
        path=visible(path(issue.path)),
        reason=visible(issue.reason),
        fix=visible(issue.fix),
    )


def _order(issue: Issue) -> tuple[str, bool, float, int, str, str]:
    weight = SEVERITY_WEIGHTS[issue.severity]
    return issue.path, issue.verdict != "fail", -weight, issue.line, issue.rule, issue.address


def _found(report: ScanReport) -> Iterator[Issue]:
    for one in report.findings:
        verdict: Literal["fail", "unknown"] = "fail" if one.verdict == "fail" else "unknown"
        yield Issue(one.rule, one.address, verdict, one.severity, one.filename, one.line, one.reason, one.fix)


def _problems(problems: Iterable[Problem], undecided: Container[str]) -> Iterator[Issue]:
    for one in problems:
        yield Issue(
            rule=one.kind,
            address=one.address,
            verdict="unknown" if one.kind in undecided else "fail",
            severity="critical",
            path=one.filename,
            line=one.line,
            reason=one.message,
            fix=f"did you mean {one.hint!r}?" if one.hint else "",
            column=one.column,
        )


def _from_engines(engines: Sequence[EngineReport]) -> Iterator[Issue]:
    for engine in engines:
        for one in engine.findings:
            yield Issue(
                rule=one.rule,
                address=one.address,
                verdict="fail",
                severity=one.severity or _severities_by_check().get(one.rule, "low"),
                path=one.filename,
                line=one.line,
                reason=one.reason,
                engine=engine.engine,
            )


@cache
def _severities_by_check() -> dict[str, Severity]:
    """How bad our rules find what an engine's check is about; an engine that ranks nothing is ranked by these."""
    return {check: rule.severity for rule in reversed(all_rules().values()) for check in rule.references}


def _unbuilt(required: Sequence[str], path: str) -> Issue:
    reason = (
        f"not all of {', '.join(required)} is surely created and configured" if required else "something is missing"
    )
    return Issue("builds_required", "", "fail", "critical", path, 1, reason)
