"""The labelled cases: each stands for a class of configurations that scanners get wrong."""

from __future__ import annotations

import json
from pathlib import Path

from rl_gym.iac.rules import all_rules
from rl_gym.iac.scan import scan

GATES = frozenset({"builds_required", "no_critical", "well_formed"})


def test_every_labelled_case(cases_path: Path) -> None:
    cases = [json.loads(line) for line in cases_path.read_text().splitlines()]
    judged = [case for case in cases if case["rule"] in {*all_rules(), *GATES}]
    wrong = {case["id"]: got for case in judged if (got := _answer(case)) not in _accepted(case)}
    assert wrong == {}
    assert len(judged) >= 40


def _answer(case: dict[str, str]) -> str:
    report = scan(case["hcl"], ruleset="base+drift", required=tuple(case.get("required", ())))
    if not report.valid or not report.gates["well_formed"]:
        return "invalid"
    if case["rule"] in GATES:
        return "pass" if report.gates[case["rule"]] else "fail"
    return report.verdict(case["rule"])


def _accepted(case: dict[str, str]) -> set[str]:
    return {"pass", "na"} if case["expect"] == "pass" else {case["expect"]}
