"""The flags of `rl-gym scan`, and what a scan is asked for once the project's file has had its say."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rl_gym.cli.arguments import ArgumentParser
from rl_gym.cli.project_file import NAME, ProjectFile, find_project_file, read_project_file
from rl_gym.cli.terraform_files import variables_set_by
from rl_gym.iac.defaults import DEFAULT_RULESET
from rl_gym.iac.engines import ENGINES
from rl_gym.iac.report import ScanError
from rl_gym.iac.rules import RULESETS, Ruleset, all_rules, get_ruleset
from rl_gym.iac.triage import PROBLEM_RULES, Issue
from rl_gym.iac.triage.own_rules import read_own_rules, with_own_rules
from rl_gym.iac.triage.severities import LEVELS, Level
from rl_gym.iac.triage.waivers import Waiver
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS
from rl_gym.infra.errors import UsageError
from rl_gym.infra.hints import hint

FORMATS = ("table", "json", "sarif", "junit", "github")
SEVERITIES = tuple(SEVERITY_WEIGHTS)

_DEFAULTS: Mapping[str, Any] = {
    "ruleset": DEFAULT_RULESET,
    "engine": ["builtin"],
    "format": "table",
    "fail-on": SEVERITIES[-1],
    "required": [],
    "var": {},
    "var-file": [],
    "severity": {},
    "baseline": None,
    "rules": None,
    "output": "-",
}


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What a scan is asked for: flags first, then the project's file, then the defaults."""

    paths: Sequence[str]
    ruleset: Ruleset
    mistakes: dict[str, ScanError]
    """Where a scan finds out which of the project's own rules fail of themselves, and why."""
    engines: Sequence[str]
    format: str
    output: str
    fail_on: str
    required: Sequence[str]
    variables: Mapping[str, str]
    variable_files: Sequence[str]
    baseline: str | None
    write_baseline: str | None
    severities: Mapping[str, Level]
    waivers: Sequence[Waiver]
    fix: bool
    diff: bool

    def alarms(self, issue: Issue) -> bool:
        """Whether an issue makes the exit code 1."""
        return issue.counts and issue.severity in self.alarming

    @property
    def alarming(self) -> tuple[str, ...]:
        """The severities that make the exit code 1."""
        return SEVERITIES[: SEVERITIES.index(self.fail_on) + 1]


def read_options(arguments: Sequence[str]) -> ScanOptions:
    """What the arguments of a command line ask for; raises UsageError for what no scan can do."""
    given = _parser().parse_args(arguments)
    if given.diff and not given.fix:
        raise UsageError("--diff shows what --fix would change: give both")
    if given.fix and given.write_baseline:
        raise UsageError("--fix writes no baseline: write it afterwards, when what is left is known")
    project = _project(given)
    flags = _flags(given)
    chosen = {**_DEFAULTS, **project.options, **flags}
    mistakes: dict[str, ScanError] = {}
    own = read_own_rules(chosen["rules"], mistakes) if chosen["rules"] else {}
    ruleset = get_ruleset(chosen["ruleset"])
    known = {*all_rules(), *own, *PROBLEM_RULES}
    for waiver in project.waivers:
        _refuse_unknown(waiver.rule, waiver.origin, known)
    return ScanOptions(
        paths=given.paths,
        ruleset=with_own_rules(ruleset, own) if own else ruleset,
        mistakes=mistakes,
        engines=_engines(_names(chosen["engine"])),
        format=chosen["format"],
        output=chosen["output"],
        fail_on=chosen["fail-on"],
        required=_names(chosen["required"]),
        variables=chosen["var"],
        variable_files=chosen["var-file"],
        baseline=chosen["baseline"],
        write_baseline=given.write_baseline,
        severities=_severities(project, flags.get("severity", {}), known),
        waivers=project.waivers,
        fix=given.fix,
        diff=given.diff,
    )


class _Variable(argparse.Action):
    """Keeps with each value of a variable how many variable files were given before it."""

    def __call__(
        self, _parser: argparse.ArgumentParser, given: argparse.Namespace, value: Any, _flag: str | None = None
    ) -> None:
        given.var = [*(given.var or ()), (value, len(given.var_file or ()))]


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="rl-gym scan",
        description="Judge Terraform: what is wrong, where, and how to fix it.",
        epilog=f"exit code: 0 clean, 1 findings, 2 could not read or wrong usage. A flag may stand in {NAME} as a key.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a folder (with .tf files: a module), files, a plan of `terraform show -json`, - for stdin",
    )
    add("--ruleset", metavar="NAME", help=f"one of {', '.join(RULESETS)} (default: base)")
    add("--rules", metavar="FOLDER", help="a folder of your own rules in Python; they run as your code")
    add(
        "--engine",
        action="append",
        metavar="NAME,...",
        help=f"what judges beside the rules, which always do: {', '.join(ENGINES)}; may be given many times",
    )
    add("--format", choices=FORMATS, help=f"how to write it: {', '.join(FORMATS)} (default: table)", metavar="FORMAT")
    add("--output", metavar="FILE", help="where to write it (default: -, standard output)")
    add(
        "--fail-on",
        choices=SEVERITIES,
        metavar="SEVERITY",
        help=f"the lowest severity that makes the exit code 1: {', '.join(SEVERITIES)} (default: low)",
    )
    add(
        "--severity",
        action="append",
        metavar="RULE=LEVEL",
        help=f"weigh a rule anew: {', '.join(LEVELS)}; may be given many times",
    )
    add("--baseline", metavar="FILE", help="findings that are known, and make no exit code 1")
    add("--write-baseline", metavar="FILE", help="write the findings that are there into a baseline, and exit with 0")
    add(
        "--required",
        action="append",
        metavar="TYPE,...",
        help="resource types that one of the modules must build; the exit code is 1 where none builds them all",
    )
    add(
        "--var",
        "-var",
        action=_Variable,
        metavar="NAME=VALUE",
        help="a variable's value, for each module that declares it; may be given many times",
    )
    add(
        "--var-file",
        "-var-file",
        action="append",
        metavar="FILE",
        help="a .tfvars file; may be given many times; of files and values the later one has the last word",
    )
    add("--fix", action="store_true", help="fix what is mechanical in place, then say what is left; stdin is printed")
    add(
        "--diff",
        action="store_true",
        help="with --fix: print a diff and change nothing; exit code 1 where there is one",
    )
    config = parser.add_mutually_exclusive_group()
    config.add_argument("--config", metavar="FILE", help=f"settings (default: {NAME} here or in a folder above)")
    config.add_argument("--no-config", action="store_true", help=f"look for no {NAME}")
    return parser


def _project(given: argparse.Namespace) -> ProjectFile:
    path = given.config or (None if given.no_config else find_project_file(os.curdir))
    project = read_project_file(path) if path else ProjectFile()
    for key, allowed in (("format", FORMATS), ("fail-on", SEVERITIES)):
        value = project.options.get(key, allowed[0])
        if value not in allowed:
            raise UsageError(f"{project.place(key)}: {key!r} is one of {', '.join(allowed)}, not {value!r}")
    return project


def _flags(given: argparse.Namespace) -> dict[str, Any]:
    """The flags that were given, by their long names."""
    values = {name: getattr(given, name.replace("-", "_")) for name in _DEFAULTS}
    flags = {name: value for name, value in values.items() if value is not None}
    if "var" in flags:
        flags["var"] = _variables(flags["var"], flags.get("var-file", ()))
    if "severity" in flags:
        flags["severity"] = dict(_pair("--severity", word, "RULE=LEVEL") for word in flags["severity"])
    return flags


def _variables(words: Sequence[tuple[str, int]], files: Sequence[str]) -> dict[str, str]:
    """Values of variables by name, without those that a file sets which was given after them."""
    values: dict[str, str] = {}
    for word, files_before in words:
        name, value = _pair("--var", word, "NAME=VALUE")
        values.pop(name, None)
        if not any(name in variables_set_by(path) for path in files[files_before:]):
            values[name] = value
    return values


def _pair(flag: str, word: str, form: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name:
        raise UsageError(f"{flag} takes {form}, not {word!r}")
    return name, value


def _names(words: Iterable[str]) -> list[str]:
    """Names that were given by commas, by repetition, or both; one that is required twice is there twice."""
    return [name.strip() for word in words for name in word.split(",") if name.strip()]


def _engines(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in ENGINES:
            raise UsageError(f"there is no scan engine {name!r}: choose among {', '.join(ENGINES)}")
    return list(dict.fromkeys(names))


def _severities(project: ProjectFile, flags: Mapping[str, str], known: Collection[str]) -> dict[str, Level]:
    in_file = project.options.get("severity", {})
    places = {name: project.place(f"severity.{name}") for name in in_file} | dict.fromkeys(flags, "--severity")
    return {name: _level(name, level, places[name], known) for name, level in {**in_file, **flags}.items()}


def _level(rule: str, level: str, place: str, known: Collection[str]) -> Level:
    _refuse_unknown(rule, place, known)
    for allowed in LEVELS:
        if level == allowed:
            return allowed
    raise UsageError(f"{place}: the severity of {rule} is one of {', '.join(LEVELS)}, not {level!r}")


def _refuse_unknown(rule: str, place: str, known: Collection[str]) -> None:
    """Refuse the name of a rule that there is not, which does nothing where it is written: somebody mistyped it.

    The checks of other engines are in no list. Theirs have capitals, dots or blanks, and `*` is for more than one.
    """
    if rule not in known and re.fullmatch(r"[a-z0-9_-]+", rule):
        meant = hint(rule, known, "`rl-gym explain` lists them")
        raise UsageError(f"{place}: there is no rule {rule!r}: {meant}")
