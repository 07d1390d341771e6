"""A compiler of generated rules for tests: the source of a rule names the attribute that must be true."""

from __future__ import annotations

from collections.abc import Sequence

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules import Rule
from rl_gym.iac.verdicts import Answer
from rl_gym.wire import BundledRule

NAME = "tests.unit.services.verifier.rule_compiler:compile_rules"


def compile_rules(rules: Sequence[BundledRule]) -> Sequence[Rule]:
    return [_compile(rule) for rule in rules]


def _compile(rule: BundledRule) -> Rule:
    def check(resource: Resource, _context: Context) -> Answer:
        return Answer("pass" if resource.get(rule.source) is True else "fail", f"{rule.source} is not true")

    return Rule(rule.name, rule.severity, tuple(rule.resource_types), rule.name, rule.hint, (), 1, check)
