"""`rl-gym scan PATH...`: judge Terraform files, print what is wrong and where, and say so by the exit code.

Exit code 0: clean; 1: findings; 2: something could not be read or did not answer, or wrong usage.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from rl_gym.cli.main import unexpected
from rl_gym.cli.scan_options import ScanOptions, read_options
from rl_gym.cli.scan_table import counted, summary, table
from rl_gym.cli.terraform_files import Source, find_sources
from rl_gym.gym.files import replace_text
from rl_gym.hcl import HclError
from rl_gym.hcl.limits import FILES
from rl_gym.iac.report import ScanError, ScanReport
from rl_gym.iac.repository import built_together
from rl_gym.iac.scan import scan, unreadable
from rl_gym.iac.scorecard import painted
from rl_gym.iac.triage import JudgedModule, judged
from rl_gym.iac.triage.baseline import read_baseline, write_baseline
from rl_gym.iac.triage.severities import weighed
from rl_gym.iac.triage.text import visible
from rl_gym.iac.triage.waivers import waived
from rl_gym.infra.errors import RlGymError, UsageError

_JSON_VERSION = 1


def main(arguments: Sequence[str]) -> int:
    """Run the verb; raises UsageError for wrong usage."""
    options = read_options(arguments)
    sources = find_sources(options.paths, options.variable_files, options.variables)
    modules, warnings = _judged(sources, options)
    if options.fix:
        return _fix(sources, modules, options)
    if options.write_baseline:
        _write_baseline(options.write_baseline, modules)
    else:
        _write(modules, warnings, options)
    _complain(modules, warnings)
    return _exit_code(modules, options)


def _fix(sources: Sequence[Source], modules: Sequence[JudgedModule], options: ScanOptions) -> int:
    """Fix what makes the exit code 1, and report what is left; in its place a diff, or the text of standard input."""
    from rl_gym.cli.fixing import fix_sources

    alarms = [{(issue.rule, issue.address) for issue in module.issues if options.alarms(issue)} for module in modules]
    excused = [{(issue.rule, issue.address) for issue in module.issues if issue.suppression} for module in modules]
    fixed = fix_sources(sources, alarms, excused, options.paths, options.ruleset)
    modules, warnings = _judged(fixed.sources, options)
    if not fixed.deliver(diff=options.diff):
        _write(modules, warnings, options)
    _complain(modules, warnings)
    print(fixed.summary(diff=options.diff), file=sys.stderr)
    return max(_exit_code(modules, options), int(options.diff and bool(fixed.changes)))


def _judged(sources: Sequence[Source], options: ScanOptions) -> tuple[list[JudgedModule], list[str]]:
    options.mistakes.clear()
    scanned = [_scanned(source, options) for source in sources]
    reports = built_together([one.report for one in scanned])
    modules = [_module(one, report, options) for one, report in zip(scanned, reports, strict=True)]
    return _triage(modules, options, whole=not any(source.part for source in sources))


class _Scanned(NamedTuple):
    """A source and what was found in it, and the rules of the project's own that failed there for the first time."""

    source: Source
    report: ScanReport
    mistakes: Sequence[ScanError]


def _scanned(source: Source, options: ScanOptions) -> _Scanned:
    """What is found in a source; that it cannot be judged is said of it, and hides no other."""
    told = len(options.mistakes)
    try:
        report = _report(source, options)
    except Exception as error:
        message = str(error) if isinstance(error, RlGymError) else unexpected(error)
        report = _without_meaning([ScanError(message, source.title)], options)
        source = Source(source.name)
    return _Scanned(source, report, [*options.mistakes.values()][told:])


def _module(scanned: _Scanned, report: ScanReport, options: ScanOptions) -> JudgedModule:
    source = scanned.source
    module = judged(
        report,
        name=source.name,
        path=source.path,
        required=options.required,
        part=source.part,
        first_file=next(iter(source.files or ()), "main.tf"),
    )
    return replace(module, errors=[*module.errors, *scanned.mistakes])


def _report(source: Source, options: ScanOptions) -> ScanReport:
    if source.errors:
        return _without_meaning(source.errors, options)
    return scan(
        None,
        files=source.files,
        plan=source.plan,
        ruleset=options.ruleset,
        required=options.required,
        variables=source.variables,
        engines=options.engines,
        limits=FILES,
    )


def _without_meaning(errors: Sequence[ScanError], options: ScanOptions) -> ScanReport:
    return replace(unreadable(HclError(str(errors[0])), options.ruleset, options.required), errors=errors)


def _triage(
    modules: Sequence[JudgedModule], options: ScanOptions, *, whole: bool
) -> tuple[list[JudgedModule], list[str]]:
    """What the project makes of the issues, and what there is to say about its waivers and its baseline."""
    weighed_modules = weighed(modules, options.severities)
    triaged, warnings = waived(weighed_modules, options.waivers, date.today(), whole=whole)
    if options.baseline and not options.write_baseline:
        baseline = read_baseline(options.baseline)
        triaged, gone = baseline.applied(triaged)
        if gone and whole:
            warnings.append(f"{baseline.path}: {counted(gone, 'known finding')} no longer there: write it again")
    return triaged, warnings


def _write_baseline(path: str, modules: Sequence[JudgedModule]) -> None:
    if troubles := _troubles(modules):
        raise UsageError(f"{path} is not written: not everything could be judged ({troubles[0]})")
    print(f"{path}: {counted(write_baseline(path, modules), 'known finding')}")


def _write(modules: Sequence[JudgedModule], warnings: Sequence[str], options: ScanOptions) -> None:
    if options.output == "-":
        sys.stdout.writelines(_rendered(modules, warnings, options))
        return
    replace_text(Path(options.output), "".join(_rendered(modules, warnings, options)), parents=False)
    print(f"{painted(summary(modules), colour=False)} -> {options.output}")


def _rendered(modules: Sequence[JudgedModule], warnings: Sequence[str], options: ScanOptions) -> Iterator[str]:
    """The text of the report in the format that was asked for, line by line or whole."""
    match options.format:
        case "json":
            yield json.dumps(_as_json(modules, warnings), indent=2) + "\n"
        case "sarif":
            from rl_gym.iac.formats.sarif import sarif_log

            yield json.dumps(sarif_log(modules), indent=2) + "\n"
        case "junit":
            from rl_gym.iac.formats.junit import junit_xml

            yield junit_xml(modules, options.alarming)
        case "github":
            from rl_gym.iac.formats.github import github_commands

            yield from (f"{command}\n" for command in github_commands(modules))
            yield f"{painted(summary(modules), colour=False)}\n"
        case _:
            yield from _table(modules, terminal=options.output == "-" and sys.stdout.isatty())


def _table(modules: Sequence[JudgedModule], *, terminal: bool) -> Iterator[str]:
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    width = shutil.get_terminal_size((100, 24)).columns
    colour = terminal and "NO_COLOR" not in os.environ
    for line in table(modules, width=width, plain=plain):
        yield f"{painted(line, colour)}\n"


def _as_json(modules: Sequence[JudgedModule], warnings: Sequence[str]) -> dict[str, Any]:
    return {
        "version": _JSON_VERSION,
        "modules": [
            {
                "path": module.name,
                **module.report.to_dict(),
                "errors": [asdict(error) for error in module.errors],
                "issues": [issue.to_dict() for issue in module.issues],
            }
            for module in modules
        ],
        "warnings": list(warnings),
    }


def _complain(modules: Sequence[JudgedModule], warnings: Sequence[str]) -> None:
    for warning in warnings:
        print(f"warning: {visible(warning)}", file=sys.stderr)
    for trouble in _troubles(modules):
        print(f"error: {trouble}", file=sys.stderr)


def _troubles(modules: Sequence[JudgedModule]) -> list[str]:
    """Why the answer is not complete, a line each."""
    return [
        *(str(error) for module in modules for error in module.errors),
        *(f"{module.name}: {silence}" for module in modules for silence in module.silences.values()),
    ]


def _exit_code(modules: Sequence[JudgedModule], options: ScanOptions) -> int:
    if _troubles(modules):
        return 2
    alarms = any(options.alarms(issue) for module in modules for issue in module.issues)
    return 1 if alarms and not options.write_baseline else 0
