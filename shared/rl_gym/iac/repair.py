"""From a scan to what a second attempt should mend: one line for each problem, the worst first."""

from __future__ import annotations

from collections.abc import Sequence

from rl_gym.iac.context import Context
from rl_gym.iac.gates import builds_required
from rl_gym.iac.report import Finding, ScanReport

__all__ = ["problems"]


def problems(report: ScanReport, required: Sequence[str]) -> list[str]:
    """Why the text cannot be read, else what Terraform would refuse, what is missing, then findings with their fixes.

    Empty where nothing is wrong.
    """
    if report.errors:
        return [f"line {error.line}, column {error.column}: {error.message}" for error in report.errors]
    refused = [f"line {problem.line}: {problem.message}" for problem in report.problems]
    return [*refused, *_missing(report, required), *(_line(finding) for finding in report.findings)]


def _missing(report: ScanReport, required: Sequence[str]) -> list[str]:
    if report.configuration is None:
        return []
    context = Context(report.configuration)
    missing = [kind for kind in dict.fromkeys(required) if not builds_required((kind,), context)]
    return [f"{kind} was required, and none is surely created and configured" for kind in missing]


def _line(finding: Finding) -> str:
    where = f"{finding.severity}: {finding.address}, line {finding.line}"
    return f"{where}: {finding.reason.rstrip('.')}. Fix: {finding.fix}"
