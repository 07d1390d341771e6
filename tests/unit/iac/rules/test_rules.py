"""Every rule against its cases: `cases/<service>.hcl` holds them as Terraform.

A case starts with a line `#### RULE: EXPECTED: what is special about it`; one whose text is a JSON object is in JSON
syntax.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

from rl_gym.iac.rules import all_rules
from rl_gym.iac.scan import scan


class Case(NamedTuple):
    rule: str
    expected: str
    name: str
    hcl: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.expected}: {self.name}"

    @property
    def files(self) -> dict[str, str]:
        return {"main.tf.json" if self.hcl.startswith("{") else "main.tf": self.hcl}


def _cases() -> list[Case]:
    found = []
    for path in sorted(Path(__file__).with_name("cases").glob("*.hcl")):
        for text in path.read_text().split("#### ")[1:]:
            head, _, hcl = text.partition("\n")
            rule, expected, name = head.split(": ", 2)
            found.append(Case(rule, expected, name, hcl))
    return found


CASES = _cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    report = scan(None, files=case.files, ruleset="base+drift")
    assert report.valid, report.errors
    findings = [str(finding) for finding in report.results if finding.rule == case.rule]
    assert report.verdict(case.rule) == case.expected, findings


def test_every_rule_has_cases_of_every_kind() -> None:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for case in CASES:
        counts[case.rule][case.expected] += 1
    assert set(counts) == set(all_rules())
    thin = [rule for rule, kinds in counts.items() if kinds["pass"] < 4 or kinds["fail"] < 4]
    assert thin == []
    # A secret that is not known is no secret in the text: the one rule that is never unsure.
    assert [rule for rule, kinds in counts.items() if not kinds["unknown"]] == ["hardcoded_secret"]


@pytest.mark.parametrize("rule_id", all_rules())
def test_the_examples_of_a_rule_show_the_difference(rule_id: str) -> None:
    examples = all_rules()[rule_id]
    for text, expected in ((examples.passing, "pass"), (examples.failing, "fail")):
        report = scan(text, ruleset="base+drift")
        assert report.valid, report.errors
        assert report.verdict(rule_id) == expected


def test_case_names_are_unique() -> None:
    assert [name for name, times in Counter(map(str, CASES)).items() if times > 1] == []
