"""Severities of a project's own change what an issue weighs in a scan, and nothing that it was judged by."""

from __future__ import annotations

from rl_gym.iac.triage import JudgedModule
from rl_gym.iac.triage.severities import weighed


def test_a_rule_is_weighed_anew_or_turned_off(module: JudgedModule) -> None:
    (after,) = weighed([module], {"rds_public": "low", "tags": "off"})
    assert {issue.severity for issue in after.issues if issue.rule == "rds_public"} == {"low"}
    off = [issue.suppression for issue in after.issues if issue.rule == "tags"]
    assert [one.kind for one in off if one] == ["off"] * len(off)
    assert off
    others = [issue for issue in after.issues if issue.rule not in ("rds_public", "tags")]
    assert others == [issue for issue in module.issues if issue.rule not in ("rds_public", "tags")]


def test_gates_and_shares_stay(module: JudgedModule) -> None:
    (after,) = weighed([module], {"rds_public": "off"})
    assert after.report is module.report
    assert not after.report.gates["no_critical"]
