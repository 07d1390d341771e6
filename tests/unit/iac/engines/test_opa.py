"""The engine `opa`: an organisation's policies over a module, in a process that ends in time."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from rl_gym.iac import scan
from rl_gym.iac.engines import get_engine, opa
from rl_gym.iac.engines.opa import OpaEngine

needs_regorus = pytest.mark.skipif(find_spec("regorus") is None, reason="needs pip install 'rl-gym[opa]'")

MODULE = {
    "main.tf": 'resource "aws_s3_bucket" "a" {\n  bucket = "a"\n}\n',
    "more.tf": '\nresource "aws_s3_bucket" "b" {\n  count  = 2\n  bucket = "b${count.index}"\n}\n',
}
OLD = """
package main

deny[msg] {
  r := input.resource_changes[_]
  r.type == "aws_s3_bucket"
  not r.change.after.tags
  msg := sprintf("%s has no tags", [r.address])
}
"""
NEW = """
package org.buckets

import rego.v1

violation_name contains {"msg": "a name of one letter", "address": r.address, "severity": "HIGH"} if {
  some r in input.planned_values.root_module.resources
  count(r.values.bucket) == 1
}

warn if count(input.resource_changes) > 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "below").mkdir()
    return tmp_path


@needs_regorus
def test_policies_of_both_syntaxes_find_what_is_wrong_where_it_stands(folder: Path) -> None:
    (folder / "old.rego").write_text(OLD)
    (folder / "below" / "new.rego").write_text(NEW)
    report = OpaEngine(folder).scan(MODULE)
    assert report.status == "answered", report.detail
    found = {(one.rule, one.address, one.filename, one.line, one.severity) for one in report.findings}
    assert found == {
        ("main.deny", "aws_s3_bucket.a", "main.tf", 1, ""),
        ("main.deny", "aws_s3_bucket.b[0]", "more.tf", 2, ""),
        ("main.deny", "aws_s3_bucket.b[1]", "more.tf", 2, ""),
        ("org.buckets.violation_name", "aws_s3_bucket.a", "main.tf", 1, "high"),
        ("org.buckets.warn", "", "main.tf", 1, ""),
    }
    assert "a name of one letter" in {one.reason for one in report.findings}


@needs_regorus
def test_a_module_that_nothing_is_wrong_with_has_no_findings(folder: Path) -> None:
    (folder / "old.rego").write_text(OLD)
    tagged = MODULE["main.tf"].replace('"a"\n}', '"a"\n  tags = { Team = "x" }\n}')
    report = OpaEngine(folder).scan({"main.tf": tagged})
    assert (report.status, report.findings) == ("answered", [])
    assert OpaEngine(folder).health().status == "answered"


def test_without_a_folder_it_says_what_to_do(folder: Path) -> None:
    report = OpaEngine(folder / "none").scan(MODULE)
    assert report.status == "missing"
    assert "RL_GYM_POLICIES" in report.detail or "rl-gym[opa]" in report.detail


@needs_regorus
@pytest.mark.parametrize("name", ["rules_test.rego", "readme.md"])
def test_tests_and_other_files_are_no_policies(folder: Path, name: str) -> None:
    (folder / name).write_text(OLD)
    report = OpaEngine(folder).scan(MODULE)
    assert report.status == "missing"
    assert "no .rego file" in report.detail


@needs_regorus
@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("package main\nallow { true }\n", "missing", "deny, violation or warn"),
        ("package main\ndeny[msg {", "failed", "bad.rego"),
        ("package main\ndeny[msg] { msg := count(null) }\n", "failed", "count"),
    ],
)
def test_a_policy_that_cannot_judge_is_named(folder: Path, text: str, status: str, said: str) -> None:
    (folder / "bad.rego").write_text(text)
    report = OpaEngine(folder).scan(MODULE)
    assert report.status == status
    assert said in report.detail
    assert "\n" not in report.detail


@needs_regorus
def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    (folder / "bad.rego").write_bytes(b"\xff\xfe\x00")
    report = OpaEngine(folder).scan(MODULE)
    assert report.status == "failed"
    assert "cannot be read" in report.detail


@needs_regorus
def test_a_module_that_cannot_be_read_is_said_with_its_place(folder: Path) -> None:
    (folder / "old.rego").write_text(OLD)
    report = OpaEngine(folder).scan({"main.tf": 'resource "aws_s3_bucket" {\n'})
    assert report.status == "failed"
    assert "main.tf:" in report.detail


@needs_regorus
def test_a_policy_that_runs_on_is_ended(folder: Path) -> None:
    (folder / "slow.rego").write_text(
        "package main\ndeny[x] { r := numbers.range(1, 100000); x := r[_] + r[_]; x == -1 }\n"
    )
    report = OpaEngine(folder, seconds=1.0).scan(MODULE)
    assert report.status == "timed_out"


@needs_regorus
def test_nothing_but_a_file_is_read_as_a_policy(folder: Path) -> None:
    os.mkfifo(folder / "endless.rego")
    report = OpaEngine(folder).scan(MODULE)
    assert report.status == "failed"
    assert "endless.rego: not a regular file" in report.detail


@needs_regorus
def test_what_is_too_large_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "old.rego").write_text(OLD)
    monkeypatch.setattr(opa, "MOST_BYTES", len(OLD))
    assert "policies and module are larger than" in OpaEngine(folder).scan(MODULE).detail
    monkeypatch.setattr(opa, "MOST_BYTES", len(OLD) - 1)
    assert "old.rego: larger than" in OpaEngine(folder).scan(MODULE).detail
    monkeypatch.undo()
    monkeypatch.setattr(opa, "MOST_POLICIES", 0)
    assert "more than 0 policies" in OpaEngine(folder).scan(MODULE).detail


@needs_regorus
def test_a_scan_takes_it_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "old.rego").write_text(OLD)
    monkeypatch.setenv("RL_GYM_POLICIES", str(folder))
    get_engine.cache_clear()
    try:
        report = scan.scan(None, files=MODULE, engines=("builtin", "opa"))
    finally:
        get_engine.cache_clear()
    (answer,) = report.engines
    assert (answer.engine, answer.status, len(answer.findings)) == ("opa", "answered", 3)
