"""From a scan to what a second attempt should mend: one line for each problem, the worst first."""

from __future__ import annotations

from collections.abc import Sequence

from rl_gym.iac.report import Finding, ScanReport

__all__ = ["problems"]


def problems(report: ScanReport, required: Sequence[str]) -> list[str]:
    """Why the text cannot be read, else what was required and is missing, then findings by severity with their fixes.

    Empty where nothing is wrong.
    """
    if report.errors:
        return [f"line {error.line}, column {error.column}: {error.message}" for error in report.errors]
    lines: list[str] = []
    if not report.gates.get("builds_required", True):
        lines.append(f"not all of {', '.join(required)} are created and configured")
    lines += [_line(finding) for finding in report.findings]
    return lines


def _line(finding: Finding) -> str:
    where = f"{finding.severity}: {finding.address}, line {finding.line}"
    return f"{where}: {finding.reason.rstrip('.')}. Fix: {finding.fix}"
