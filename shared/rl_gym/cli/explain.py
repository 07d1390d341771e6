"""`rl-gym explain [RULE]`: what a rule asks for and why, and a configuration that fails it beside one that passes."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rl_gym.cli.arguments import ArgumentParser
from rl_gym.iac.fixes import fixable
from rl_gym.iac.rules import RULESETS, Rule, all_rules, get_ruleset
from rl_gym.iac.scorecard import SEVERITY_STYLES, Line, painted
from rl_gym.iac.triage import PROBLEM_RULES
from rl_gym.iac.triage.own_rules import read_own_rules
from rl_gym.infra.errors import NotFoundError, UsageError

_WIDEST = 100
_CHECKOV = ("CKV_", "CKV2_")


def main(arguments: Sequence[str]) -> int:
    """Run the verb; raises NotFoundError for a rule that does not exist."""
    options = _parser().parse_args(arguments)
    own = read_own_rules(options.rules) if options.rules else {}
    rules = {**all_rules(), **own}
    asked = [] if options.rule is None else _found(options.rule, rules)
    if options.format == "json":
        shown = [_as_json(rule) for rule in asked or rules.values()]
        print(json.dumps(shown[0] if len(asked) == 1 else shown, indent=2))
        return 0
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
    for line in _page(options.rule, asked, width) if asked else _table(rules):
        print(painted(line, colour))
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="rl-gym explain",
        description="What a rule asks for and why; without a name, the list of all rules.",
        allow_abbrev=False,
    )
    parser.add_argument("rule", nargs="?", metavar="RULE", help="a rule, or what it answers to: CKV_AWS_17, FSBP RDS.2")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="for people or for programs")
    parser.add_argument("--rules", metavar="FOLDER", help="a folder of your own rules in Python; they run as your code")
    return parser


def _found(name: str, rules: Mapping[str, Rule]) -> list[Rule]:
    """The rule of a name, or those that refer to it: the check of another scanner, or a control."""
    if name in rules:
        return [rules[name]]
    wanted = name.casefold()
    found = [rule for rule in rules.values() if wanted in map(str.casefold, (rule.id, *rule.references))]
    if found:
        return found
    if name in PROBLEM_RULES:
        raise UsageError(f"{name} is no rule, but what Terraform would refuse: {PROBLEM_RULES[name]}")
    if name.upper().startswith(_CHECKOV):
        raise NotFoundError(f"no rule covers {name}: `rl-gym scan --engine checkov` asks Checkov itself")
    near = difflib.get_close_matches(wanted, rules, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "`rl-gym explain` lists them"
    raise NotFoundError(f"there is no rule {name!r}: {hint}")


def _table(rules: Mapping[str, Rule]) -> Iterator[Line]:
    """A row a rule, the most severe first."""
    name = max(map(len, rules))
    for rule in rules.values():
        yield [
            (f"{rule.id:{name}}  ", "bold"),
            (f"{rule.severity:8}", SEVERITY_STYLES[rule.severity]),
            (f"  {rule.title}", ""),
        ]
    yield []
    yield [(f"{len(rules)} rules; `rl-gym explain RULE` tells why, and shows an example", "dim")]


def _page(asked: str, rules: Sequence[Rule], width: int) -> Iterator[Line]:
    if asked not in (rule.id for rule in rules):
        yield [(f"{asked} is covered by {' and '.join(rule.id for rule in rules)}", "dim")]
        yield []
    for position, rule in enumerate(rules):
        yield from [[]] * bool(position)
        yield from _explained(rule, width)


def _explained(rule: Rule, width: int) -> Iterator[Line]:
    yield [(rule.id, "bold"), ("  ", ""), (rule.severity, SEVERITY_STYLES[rule.severity]), (f"  {rule.title}", "")]
    yield []
    yield from _paragraphs(rule.why, width)
    yield []
    for label, text in _facts(rule).items():
        first, *others = textwrap.wrap(text, width - 10) or [""]
        yield [(f"{label:10}", "dim"), (first, "")]
        yield from ([(" " * 10 + other, "")] for other in others)
    for label, style, example in (("fails", "red", rule.failing), ("passes", "green", rule.passing)):
        if example:
            yield []
            yield [(label, style)]
            yield from ([(f"  {line}", "")] for line in example.splitlines())


def _paragraphs(text: str, width: int) -> Iterator[Line]:
    for position, paragraph in enumerate(text.split("\n\n")):
        yield from [[]] * bool(position)
        yield from ([(line, "")] for line in textwrap.wrap(" ".join(paragraph.split()), width))


def _facts(rule: Rule) -> dict[str, str]:
    checkov = [name for name in rule.references if name.startswith(_CHECKOV)]
    controls = [name for name in rule.references if not name.startswith(_CHECKOV)]
    facts = {
        "fix": rule.fix,
        "by itself": "`rl-gym scan --fix` does it" if fixable(rule.id) else "",
        "judges": ", ".join("every resource" if kind == "*" else kind for kind in rule.types),
        "weight": f"{rule.weight:g}",
        "rulesets": ", ".join(_rulesets(rule)),
        "controls": ", ".join(controls),
        "Checkov": ", ".join(checkov),
    }
    return {label: text for label, text in facts.items() if text}


def _rulesets(rule: Rule) -> list[str]:
    return [name for name in RULESETS if rule.id in get_ruleset(name)]


def _as_json(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "severity": rule.severity,
        "weight": rule.weight,
        "title": rule.title,
        "why": rule.why,
        "fix": rule.fix,
        "fixable": fixable(rule.id),
        "types": list(rule.types),
        "references": list(rule.references),
        "rulesets": _rulesets(rule),
        "version": rule.version,
        "failing": rule.failing,
        "passing": rule.passing,
    }
