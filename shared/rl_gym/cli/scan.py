"""`rl-gym scan PATH...`: judge Terraform files, print what is wrong and where, and say so by the exit code.

Exit code 0: clean; 1: findings; 2: something could not be read, or wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from rl_gym.cli.terraform_files import Source, find_sources
from rl_gym.hcl.limits import FILES
from rl_gym.iac.report import Finding, ScanReport
from rl_gym.iac.rules import RULESETS
from rl_gym.iac.scan import ENGINES, scan
from rl_gym.iac.scorecard import SEVERITY_STYLES, Line, painted, scorecard
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS
from rl_gym.infra.errors import UsageError

_SEVERITIES = tuple(SEVERITY_WEIGHTS)


@dataclass(frozen=True, slots=True)
class Scanned:
    """One module and what was found in it."""

    source: Source
    report: ScanReport

    def path(self, filename: str) -> str:
        """A file of the module as the user would name it."""
        return self.source.path(filename)


def main(arguments: Sequence[str]) -> int:
    """Run the verb; raises UsageError for wrong usage and for paths that cannot be read."""
    options = _parser().parse_args(arguments)
    scanned = [_scan(source, options) for source in find_sources(options.paths, options.var_file)]
    if options.format == "json":
        print(json.dumps(_as_json(scanned), indent=2))
    else:
        _print_table(scanned)
    for one in scanned:
        for error in one.report.errors:
            print(f"error: {one.path(error.filename)}:{error.line}:{error.column}: {error.message}", file=sys.stderr)
    if any(not one.report.valid for one in scanned):
        return 2
    return 1 if any(_alarming(one.report, options.fail_on) for one in scanned) else 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="rl-gym scan",
        description="Judge Terraform: what is wrong, where, and how to fix it.",
        epilog="exit code: 0 clean, 1 findings, 2 could not read or wrong usage",
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a folder (with .tf files: a module), files, a plan of `terraform show -json`, - for stdin",
    )
    parser.add_argument("--ruleset", default="base", help=f"one of {', '.join(RULESETS)} (default: base)")
    parser.add_argument("--engine", default="builtin", help=f"what judges: {', '.join(ENGINES)} (default: builtin)")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="for people or for programs")
    parser.add_argument(
        "--fail-on",
        choices=_SEVERITIES,
        default=_SEVERITIES[-1],
        metavar="SEVERITY",
        help=f"the lowest severity that makes the exit code 1: {', '.join(_SEVERITIES)} (default: low)",
    )
    parser.add_argument(
        "--required",
        default="",
        metavar="TYPE,...",
        help="resource types that must be built; the exit code is 1 where one is not",
    )
    parser.add_argument(
        "--var", action="append", default=[], metavar="NAME=VALUE", help="a variable's value; may be given many times"
    )
    parser.add_argument(
        "--var-file", action="append", default=[], metavar="FILE", help="a .tfvars file; may be given many times"
    )
    return parser


def _variables(words: Sequence[str]) -> dict[str, str]:
    named = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--var takes NAME=VALUE, not {word!r}")
        named[name] = value
    return named


def _scan(source: Source, options: argparse.Namespace) -> Scanned:
    required = [kind.strip() for kind in options.required.split(",") if kind.strip()]
    report = scan(
        None,
        files=source.files,
        plan=source.plan,
        ruleset=options.ruleset,
        required=required,
        variables=_variables(options.var),
        engines=(options.engine,),
        limits=FILES,
    )
    return Scanned(source, report)


def _alarming(report: ScanReport, fail_on: str) -> bool:
    severities = _SEVERITIES[: _SEVERITIES.index(fail_on) + 1]
    failed = any(finding.verdict == "fail" and finding.severity in severities for finding in report.findings)
    return failed or not report.gates["builds_required"]


def _as_json(scanned: Sequence[Scanned]) -> dict[str, Any]:
    return {"modules": [{"path": one.source.name, **one.report.to_dict()} for one in scanned]}


def _print_table(scanned: Sequence[Scanned]) -> None:
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    width = shutil.get_terminal_size((100, 24)).columns
    for one in scanned:
        lines = [[(f"== {one.source.name}", "bold")]] if len(scanned) > 1 else []
        lines += _findings(one)
        if one.report.valid:
            lines += [[]] * bool(lines)
            lines += scorecard(one.report, width=width, plain=plain)
        for line in lines:
            print(painted(line, colour))


def _findings(scanned: Scanned) -> list[Line]:
    """A row a finding: where (`file:line` stays one word), how bad, which rule, and why; the fix stands below."""
    found = scanned.report.findings
    places = [_place(scanned, finding) for finding in found]
    words = [finding.severity if finding.verdict == "fail" else finding.verdict for finding in found]
    where, what, rule = (
        max(map(len, column), default=0) for column in (places, words, [finding.rule for finding in found])
    )
    lines: list[Line] = []
    for finding, place, word in zip(found, places, words, strict=True):
        lines += [
            [
                (f"{place:{where}}", "bold"),
                (f"  {word:{what}}", SEVERITY_STYLES[finding.severity]),
                (f"  {finding.rule:{rule}}  {finding.address}: {finding.reason}", ""),
            ],
            [(f"    fix: {finding.fix}", "dim")],
        ]
    return lines


def _place(scanned: Scanned, finding: Finding) -> str:
    return f"{scanned.path(finding.filename)}:{finding.line}"
