"""A repository of Terraform: each root module among its files judged by itself, and all of them reported as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from rl_gym.hcl import HclError, load
from rl_gym.hcl.limits import FILES
from rl_gym.iac.engines.report import EngineFinding, EngineReport
from rl_gym.iac.report import Finding, Problem, ScanError, ScanReport
from rl_gym.iac.root_modules import RootModule, root_modules
from rl_gym.iac.rules import Ruleset
from rl_gym.iac.scan import scan

__all__ = ["JudgedRoot", "built_together", "scan_repository", "united", "values_for"]

_Place = TypeVar("_Place", Finding, Problem, ScanError, EngineFinding)


class JudgedRoot(NamedTuple):
    """A root module and what was found in it, by its own names of files."""

    module: RootModule
    report: ScanReport

    def placed(self, found: Sequence[_Place]) -> list[_Place]:
        """What was found, by the names that files have in the repository."""
        return [replace(one, filename=self.module.path(one.filename)) if one.filename else one for one in found]


def scan_repository(
    files: Mapping[str, str],
    *,
    ruleset: Ruleset,
    required: Sequence[str] = (),
    variables: Mapping[str, Any] | None = None,
) -> list[JudgedRoot]:
    """Judge every root module among files by relative path, within the limits for files.

    `required` are the resource types that one of the modules must build. Each module gets the variables that it
    declares; one that none declares is an error of all.
    """
    modules = root_modules(files)
    given = values_for(modules, variables or {})
    reports = [
        scan(None, files=module.files, ruleset=ruleset, required=required, variables=values, limits=FILES)
        for module, values in zip(modules, given, strict=True)
    ]
    return [JudgedRoot(*pair) for pair in zip(modules, built_together(reports), strict=True)]


def built_together(reports: Sequence[ScanReport]) -> list[ScanReport]:
    """Reports of the modules of one repository: what is required is built where one of them builds it."""
    built = any(report.gates["builds_required"] for report in reports)
    return [replace(report, gates={**report.gates, "builds_required": built}) for report in reports]


def values_for(modules: Sequence[RootModule], variables: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The variables that each module is to get: those that it declares, and those that none does."""
    if len(modules) == 1 or not variables:
        return [variables for _ in modules]
    declared = [_declared(module) for module in modules]
    anywhere = frozenset().union(*declared)
    return [
        {name: value for name, value in variables.items() if name in own or name not in anywhere} for own in declared
    ]


def _declared(module: RootModule) -> frozenset[str]:
    """The variables that a module declares; none where that cannot be read."""
    try:
        return frozenset(load({name: f"{text}\n" for name, text in module.files.items()}, FILES).declared.variables)
    except HclError:
        return frozenset()


def united(judged: Sequence[JudgedRoot]) -> ScanReport:
    """One report of all root modules, at least one, by the names that files have in the repository.

    A gate holds where it holds for each. Where one cannot be read the report is not valid: what the others have is in
    `findings` all the same, and a rule that fails in none of them is unknown.
    """
    first = judged[0].report
    return ScanReport(
        ruleset=first.ruleset,
        results=[result for root in judged for result in root.placed(root.report.results)],
        gates={name: all(root.report.gates[name] for root in judged) for name in first.gates},
        errors=[error for root in judged for error in root.placed(root.report.errors)],
        configuration=first.configuration if len(judged) == 1 else None,
        rewarded=frozenset(_shifted(judged, [root.report.rewarded for root in judged])),
        rewarded_leniently=frozenset(_shifted(judged, [root.report.rewarded_leniently for root in judged])),
        problems=[problem for root in judged for problem in root.placed(root.report.problems)],
        unread=[problem for root in judged for problem in root.placed(root.report.unread)],
        engines=list(_engines(judged).values()),
    )


def _shifted(judged: Sequence[JudgedRoot], positions: Sequence[frozenset[int]]) -> Iterator[int]:
    """Positions in the results of each report, as positions in those of all."""
    before = 0
    for root, own in zip(judged, positions, strict=True):
        yield from (before + position for position in own)
        before += len(root.report.results)


def _engines(judged: Sequence[JudgedRoot]) -> Mapping[str, EngineReport]:
    """What each engine said of all modules; that it was silent about one is what counts."""
    found: dict[str, EngineReport] = {}
    for root in judged:
        for said in root.report.engines:
            placed = replace(said, findings=root.placed(said.findings))
            found[said.engine] = _joined(found[said.engine], placed) if said.engine in found else placed
    return found


def _joined(one: EngineReport, other: EngineReport) -> EngineReport:
    return replace(
        one,
        status=other.status if one.status == "answered" else one.status,
        version=one.version or other.version,
        detail="; ".join(dict.fromkeys(filter(None, (one.detail, other.detail)))),
        findings=[*one.findings, *other.findings],
    )
