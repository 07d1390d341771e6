"""Every fixer: on the failing example of its rule and on every failing case, as text and as the provider sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rl_gym.iac.fixes import fix, fixable
from rl_gym.iac.fixes.catalog import FIXERS
from rl_gym.iac.rules import all_rules
from rl_gym.iac.scan import scan

CASES = Path(__file__).parents[1] / "rules" / "cases"
DECIDED_BY_A_PERSON = (
    "sg_world_admin",
    "sg_open_database_ports",
    "hardcoded_secret",
    "iam_wildcard",
    "cloudtrail_encrypted",
    "cw_log_kms",
    "s3_access_logging",
    "vpc_flow_logs",
    "tags",
    "sg_description",
)


def failing(rule: str) -> str:
    """The shortest configuration that a rule fails."""
    return all_rules()[rule].failing


def test_fixers_are_for_rules_that_exist() -> None:
    assert set(FIXERS) <= set(all_rules())
    assert len(FIXERS) >= 30


def test_there_is_none_where_a_person_has_to_decide() -> None:
    assert [rule for rule in DECIDED_BY_A_PERSON if fixable(rule)] == []
    assert fixable("rds_public")
    assert not fixable("no_such_rule")


@pytest.mark.parametrize("rule", sorted(FIXERS))
def test_the_failing_example_of_the_rule_passes_afterwards(rule: str) -> None:
    result = fix({"main.tf": failing(rule)}, ruleset="base+drift", only=[rule])
    assert result.left == []
    assert result.after.verdict(rule) == "pass", result.diff()
    assert fix(result.files, ruleset="base+drift", only=[rule]).changed == []


@pytest.mark.parametrize("path", sorted(CASES.glob("*.hcl")), ids=lambda path: path.stem)
def test_a_case_is_fixed_or_left_with_a_reason(path: Path) -> None:
    for case in path.read_text().split("#### ")[1:]:
        head, _, hcl = case.partition("\n")
        rule, expected, name = head.split(": ", 2)
        if expected != "fail" or not fixable(rule):
            continue
        filename = "main.tf.json" if hcl.startswith("{") else "main.tf"
        result = fix({filename: hcl}, ruleset="base+drift", only=[rule])
        assert all(one.reason for one in result.left)
        assert (result.after.verdict(rule) == "fail") == bool(result.left), name
        assert bool(result.changed) == bool(result.applied), name
        before = {(one.rule, one.address) for one in result.before.findings}
        assert {(one.rule, one.address) for one in result.after.findings} <= before, name


def test_the_provider_takes_every_remedy(complaints: Callable[[Mapping[str, str]], list[str]]) -> None:
    texts = {rule: failing(rule) for rule in sorted(FIXERS)}
    for name, meta in (("counted", "count = 2"), ("keyed", 'for_each = toset(["a", "b"])')):
        texts[name] = f'resource "aws_s3_bucket" "b" {{\n  {meta}\n}}\n'
    fixed = {name: fix({"main.tf": text}, ruleset="base+drift").files["main.tf"] for name, text in texts.items()}
    assert complaints(fixed) == []


def test_no_fixed_example_has_a_critical_finding() -> None:
    for rule in FIXERS:
        text = fix({"main.tf": failing(rule)}, ruleset="base+drift").files["main.tf"]
        assert scan(text, ruleset="base+drift").gates["no_critical"], rule


def test_the_page_about_fixing_lists_them_all() -> None:
    page = (Path(__file__).parents[4] / "docs" / "fixing.md").read_text()
    table = page.partition("## What is fixed")[2].partition("##")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == sorted(FIXERS)
