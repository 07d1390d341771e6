"""Several modules as one report: names of files, verdicts and shares, and that nobody's silence is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rl_gym.iac.engines.report import EngineFinding, EngineReport
from rl_gym.iac.repository import JudgedRoot, scan_repository, united
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.scan import scan

KEY = 'resource "aws_kms_key" "k" {{\n  enable_key_rotation = {}\n  tags = {{ Name = "k" }}\n}}\n'
GOOD, BAD = KEY.format("true"), KEY.format("false")
CALL = 'module "m" {\n  source = "../../shared"\n}\n'


def _judged(files: Mapping[str, str], **how: Any) -> list[JudgedRoot]:
    return scan_repository(files, ruleset=get_ruleset("seed18"), **how)


def test_one_module_is_reported_as_it_was() -> None:
    (root,) = judged = _judged({"main.tf": BAD + CALL})
    report = united(judged)
    assert report.to_dict() == root.report.to_dict()
    assert report.configuration is root.report.configuration


def test_findings_carry_the_names_of_the_repository() -> None:
    files = {"infra/a/main.tf": CALL, "infra/b/main.tf": CALL, "infra/c/x.tf": "\n" + BAD, "shared/main.tf": BAD}
    report = united(_judged(files))
    places = [(one.address, one.filename, one.line) for one in report.findings]
    shared = ("module.m.aws_kms_key.k", "shared/main.tf", 2)
    assert places == [("aws_kms_key.k", "infra/c/x.tf", 3), shared, shared]


def test_verdicts_gates_and_shares_are_of_all() -> None:
    report = united(_judged({"a/main.tf": GOOD, "b/main.tf": BAD, "c/main.tf": GOOD}))
    apart = scan(GOOD + BAD.replace('"k"', '"l"') + GOOD.replace('"k"', '"m"'), ruleset="seed18")
    assert report.verdicts == apart.verdicts
    assert (report.pass_rate, report.security) == (apart.pass_rate, apart.security)
    assert report.gates == dict.fromkeys(report.gates, True)
    assert not united(_judged({"a/main.tf": GOOD, "b/main.tf": "a {"})).gates["well_formed"]


def test_one_that_cannot_be_read_hides_no_finding_of_another() -> None:
    report = united(_judged({"a/main.tf": "a {", "b/main.tf": BAD, "c/main.tf": CALL}))
    assert [(error.filename, error.line) for error in report.errors] == [("a/main.tf", 2)]
    assert (report.valid, report.security) == (False, 0.0)
    assert report.verdict("kms_rotation") == "fail"
    assert report.verdict("rds_public") == "unknown"
    assert [(one.filename, one.address) for one in report.unread] == [("c/main.tf", "module.m")]


@pytest.mark.parametrize("statuses", [("answered", "timed_out"), ("timed_out", "answered")])
def test_an_engine_that_was_silent_about_one_module_did_not_answer(statuses: Sequence[str]) -> None:
    judged = []
    for root, status in zip(_judged({"a/main.tf": GOOD, "b/main.tf": GOOD}), statuses, strict=True):
        found = [EngineFinding("CKV_1", "aws_kms_key.k", "main.tf", 1, "no")] if status == "answered" else []
        said = EngineReport("checkov", status, "1.0", "" if found else "too slow", found)  # type: ignore[arg-type]
        judged.append(JudgedRoot(root.module, replace(root.report, engines=[said])))
    (said,) = united(judged).engines
    assert (said.status, said.detail, len(said.findings)) == ("timed_out", "too slow", 1)
    assert said.findings[0].filename in ("a/main.tf", "b/main.tf")


def test_what_is_required_is_built_by_one_of_the_modules() -> None:
    files = {"a/main.tf": GOOD, "b/main.tf": ""}
    assert united(_judged(files, required=["aws_kms_key"])).gates["builds_required"]
    assert not united(_judged(files, required=["aws_vpc"])).gates["builds_required"]


def test_each_module_gets_the_variables_that_it_declares() -> None:
    files = {"a/main.tf": 'variable "on" {}\n' + KEY.format("var.on"), "b/main.tf": GOOD, "c/main.tf": "c {"}
    assert united(_judged(files, variables={"on": True})).verdict("kms_rotation") == "unknown"
    del files["c/main.tf"]
    assert united(_judged(files, variables={"on": True})).verdict("kms_rotation") == "pass"
    errors = united(_judged(files, variables={"off": True})).errors
    assert [error.message.partition(",")[0] for error in errors] == ['a value was given for the variable "off"'] * 2
