"""Judged modules as workflow commands, which GitHub shows as annotations beside the changed lines.

The format is the one that GitHub documents as "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rl_gym.iac.report import ScanError
from rl_gym.iac.triage.issues import Issue, JudgedModule

__all__ = ["github_commands"]

_COMMANDS = {"critical": "error", "high": "error", "medium": "warning", "low": "notice"}


def github_commands(modules: Sequence[JudgedModule]) -> Iterator[str]:
    """A line for each failure that counts, each error of reading, and each engine that did not answer."""
    for module in modules:
        for error in module.errors:
            yield _error(error)
        for silence in module.silences.values():
            yield _command("error", f"{module.name}: {silence}", title="no answer")
        for issue in module.issues:
            if issue.counts:
                yield _issue(issue)


def _issue(issue: Issue) -> str:
    subject = f"{issue.address}: " if issue.address else ""
    advice = f"\nFix: {issue.fix}" if issue.fix else ""
    return _command(
        _COMMANDS[issue.severity],
        f"{subject}{issue.reason}{advice}",
        file=issue.path,
        line=issue.line,
        col=issue.column,
        title=f"{issue.rule} ({issue.severity})",
    )


def _error(error: ScanError) -> str:
    return _command(
        "error", error.message, file=error.filename, line=error.line, col=error.column, title="cannot be read"
    )


def _command(name: str, message: str, **properties: str | int) -> str:
    given = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value)
    return f"::{name} {given}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
