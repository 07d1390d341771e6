"""A report as issues: everything that is wrong in one form, in order, by the names that the user knows."""

from __future__ import annotations

from dataclasses import replace

from rl_gym.iac.engines.report import EngineFinding, EngineReport
from rl_gym.iac.report import Problem, ScanError
from rl_gym.iac.scan import scan
from rl_gym.iac.triage import JudgedModule, judged

HCL = 'resource "aws_db_instance" "d" {\n  instance_class = "db.t4g.small"\n  publicly_accessible = true\n}\n'


def test_issues_are_file_by_file_the_worst_first(module: JudgedModule) -> None:
    order = list(dict.fromkeys(issue.path for issue in module.issues))
    assert order == ["infra/db.tf", "infra/key.tf", "infra/web.tf"]
    database = [issue for issue in module.issues if issue.path == "infra/db.tf"]
    assert database[0].rule == "rds_public"
    assert [issue.severity for issue in database] == sorted(
        (issue.severity for issue in database), key=["critical", "high", "medium", "low"].index
    )
    assert {issue.verdict for issue in module.issues if issue.rule == "kms_rotation"} == {"unknown"}


def test_a_dangling_reference_counts_unless_the_rest_may_be_elsewhere() -> None:
    problems = [Problem(kind, "m", "main.tf", 1, 2) for kind in ("reference", "duplicate")]
    report = replace(scan(HCL), problems=problems)
    whole, part = ({issue.rule: issue.verdict for issue in judged(report, part=part).issues} for part in (False, True))
    assert (whole["reference"], whole["duplicate"]) == ("fail", "fail")
    assert (part["reference"], part["duplicate"]) == ("unknown", "fail")


def test_what_is_not_built_is_an_issue() -> None:
    required = ["aws_vpc"]
    module = judged(scan(HCL, required=required), required=required, first_file="main.tf")
    (unbuilt,) = [issue for issue in module.issues if issue.rule == "builds_required"]
    assert unbuilt.counts
    assert unbuilt.reason == "not all of aws_vpc is surely created and configured"
    assert not [issue for issue in judged(scan(HCL)).issues if issue.rule == "builds_required"]


def test_an_engine_without_severities_is_ranked_by_our_rules() -> None:
    findings = [EngineFinding(check, "a.b", "main.tf", 1, "m") for check in ("CKV_AWS_17", "CKV_AWS_99999")]
    ranked = EngineFinding("own", "a.b", "main.tf", 1, "m", "high")
    report = replace(scan(""), engines=[EngineReport("checkov", "answered", findings=[*findings, ranked])])
    severities = {issue.rule: issue.severity for issue in judged(report).issues}
    assert severities == {"CKV_AWS_17": "critical", "CKV_AWS_99999": "low", "own": "high"}


def test_an_engine_that_does_not_answer_is_no_engine_that_found_nothing() -> None:
    report = replace(
        scan(""), engines=[EngineReport("opa", "timed_out", detail="after 5 s"), EngineReport("x", "answered")]
    )
    assert judged(report).silences == {"opa": "opa did not answer (timed_out): after 5 s"}


def test_texts_are_printable() -> None:
    report = replace(scan(""), errors=[ScanError("a\nb", "c\x1b.tf", 1, 1)])
    (error,) = judged(report, name="\r").errors
    assert str(error) == "c\\x1b.tf:1:1: a\\nb"
    (issue,) = judged(replace(scan(""), problems=[Problem("schema", "\u202e", "\x07", 1, 1)])).issues
    assert (issue.reason, issue.path) == ("\\u202e", "\\x07")


def test_a_fingerprint_is_of_what_it_is_about(module: JudgedModule) -> None:
    issue = module.issues[0]
    assert replace(issue, line=99, reason="else").fingerprint == issue.fingerprint
    for change in ({"rule": "x"}, {"address": "x"}, {"path": "x"}, {"engine": "x"}):
        assert replace(issue, **change).fingerprint != issue.fingerprint
