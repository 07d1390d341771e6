"""The table of `rl-gym scan`, for people: what is wrong by file and line, the scorecard, and a line that sums it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rl_gym.iac.scorecard import SEVERITY_STYLES, Line, Span, scorecard
from rl_gym.iac.triage import Issue, JudgedModule
from rl_gym.iac.triage.issues import BUILTIN
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS

__all__ = ["counted", "summary", "table"]

_HIDDEN = {"known": "known", "waived": "waived", "off": "turned off"}


def table(modules: Sequence[JudgedModule], *, width: int, plain: bool) -> Iterator[Line]:
    """The lines of the table; `width` in characters, `plain` where only ASCII can be shown.

    What could not be read is not in it. Of several modules, those without findings come last, a line each.
    """
    several = len(modules) > 1
    clean: list[Line] = []
    for module in modules:
        shown = [issue for issue in module.issues if issue.suppression is None]
        if not module.report.valid:
            continue
        if several and not shown:
            clean.append([(f"== {module.name}", "bold"), ("  no findings", "green")])
            continue
        if several:
            yield [(f"== {module.name}", "bold")]
        yield from _issues(shown)
        yield from [[]] * bool(shown)
        yield from scorecard(module.report, width=width, plain=plain, brief=several)
        yield []
    yield from clean
    yield from [[]] * bool(clean)
    yield summary(modules)


def summary(modules: Sequence[JudgedModule]) -> Line:
    """How many findings there are, how bad, and what is not shown."""
    issues = [issue for module in modules for issue in module.issues]
    failures = [issue for issue in issues if issue.counts]
    severities = Counter[str](issue.severity for issue in failures)
    severities_in_order = [severity for severity in SEVERITY_WEIGHTS if severities[severity]]
    unknown = sum(issue.verdict == "unknown" and issue.suppression is None for issue in issues)
    hidden = Counter(_HIDDEN[issue.suppression.kind] for issue in issues if issue.suppression)

    line: Line = [_total(len(failures), len({issue.path for issue in failures}), modules)]
    worst = [(f"{severities[severity]} {severity}", SEVERITY_STYLES[severity]) for severity in severities_in_order]
    for position, span in enumerate(worst):
        line += [(", " if position else ": ", ""), span]
    if unknown:
        line.append((f"; {unknown} unknown before apply", "dim"))
    if hidden:
        line.append((f"; not shown: {', '.join(f'{count} {kind}' for kind, count in hidden.items())}", "dim"))
    return line


def _total(failures: int, files: int, modules: Sequence[JudgedModule]) -> Span:
    if failures:
        return (f"{counted(failures, 'finding')} in {counted(files, 'file')}", "bold")
    if not any(module.report.valid for module in modules):
        return ("nothing could be read", "bold red")
    if any(module.errors for module in modules):
        return ("no findings in what could be read", "bold yellow")
    return ("no findings", "bold green")


def counted(number: int, thing: str) -> str:
    """A number of things, in words."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _issues(issues: Sequence[Issue]) -> Iterator[Line]:
    """A row an issue, file by file: where (`file:line` stays one word), how bad, which rule, and why.

    How to fix it stands below the first issue of each rule.
    """
    cells = [(f"{issue.path}:{issue.line}", _word(issue), _rule(issue)) for issue in issues]
    where, what, rule = (max((len(cell[column]) for cell in cells), default=0) for column in range(3))
    explained: set[str] = set()
    path = issues[0].path if issues else ""
    for issue, cell in zip(issues, cells, strict=True):
        if issue.path != path:
            path = issue.path
            yield []
        subject = f"{issue.address}: " if issue.address else ""
        yield [
            (f"{cell[0]:{where}}", "bold"),
            (f"  {cell[1]:{what}}", SEVERITY_STYLES[issue.severity] if issue.verdict == "fail" else "dim"),
            (f"  {cell[2]:{rule}}  {subject}{issue.reason}", ""),
        ]
        if issue.fix and cell[2] not in explained:
            explained.add(cell[2])
            yield [(f"    fix: {issue.fix}", "dim")]


def _word(issue: Issue) -> str:
    return issue.severity if issue.verdict == "fail" else issue.verdict


def _rule(issue: Issue) -> str:
    return issue.rule if issue.engine == BUILTIN else f"{issue.engine}:{issue.rule}"
