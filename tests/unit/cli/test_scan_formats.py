"""`rl-gym scan` in each format: what reaches programs, where it goes, and the exit code beside it."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rl_gym.cli.main import main
from rl_gym.iac.engines.report import EngineFinding, EngineReport

DATABASE = """
variable "encrypted" {}
resource "aws_db_instance" "d" {
  instance_class      = "db.t4g.small"
  publicly_accessible = true
  storage_encrypted   = var.encrypted
}
"""
PROBLEMS = """
resource "aws_kms_key" "k" {
  descripton          = "k"
  enable_key_rotation = true
  policy              = data.aws_iam_policy_document.nowhere.json
  tags                = { Name = "k" }
}
"""


class Witness:
    """An engine that answers as it was told to."""

    name = "checkov"

    def __init__(self, report: EngineReport) -> None:
        self.report = report

    def scan(self, files: Mapping[str, str], variables: Mapping[str, Any] | None = None) -> EngineReport:
        return self.report

    def health(self) -> EngineReport:
        return self.report

    def close(self) -> None:
        """Nothing was started."""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"a": DATABASE, "b": 'resource "aws_kms_key" "k" {\n'}.items():
        Path(name).mkdir()
        Path(name, "main.tf").write_text(text)


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Witness:
    found = Witness(
        EngineReport("checkov", "answered", findings=[EngineFinding("deny", "x.y", "main.tf", 3, "denied")])
    )
    monkeypatch.setattr("rl_gym.iac.scan.get_engine", lambda name: found)
    return found


def _scan(*arguments: str) -> int:
    return main(["scan", *arguments, "--ruleset", "seed18"])


def test_json_has_a_stable_shape(capsys: pytest.CaptureFixture[str]) -> None:
    assert _scan("a", "b", "--format", "json") == 2
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"version", "modules", "warnings"}
    good, broken = document["modules"]
    assert set(good) == {
        "path",
        "valid",
        "ruleset",
        "errors",
        "problems",
        "verdicts",
        "findings",
        "gates",
        "pass_rate",
        "security",
        "engines",
        "issues",
    }
    public = good["issues"][0]
    assert public == {
        "rule": "rds_public",
        "address": "aws_db_instance.d",
        "verdict": "fail",
        "severity": "critical",
        "path": "a/main.tf",
        "line": 5,
        "column": 0,
        "reason": "the database is public",
        "fix": "set publicly_accessible = false",
        "engine": "builtin",
        "suppression": None,
    }
    assert (broken["valid"], broken["issues"]) == (False, [])
    assert broken["errors"][0]["filename"] == "b/main.tf"


@pytest.mark.parametrize("form", ["table", "json", "sarif", "junit", "github"])
def test_every_format_tells_file_line_and_rule(capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert _scan("a", "--format", form) == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "rds_public" in printed.out
    assert "a/main.tf" in printed.out
    assert _scan("a", "b", "--format", form) == 2
    printed = capsys.readouterr()
    assert "rds_public" in printed.out
    assert printed.err.startswith("error: b/main.tf:2:")


def test_several_modules_are_one_log_and_suites(capsys: pytest.CaptureFixture[str]) -> None:
    _scan("a", "b", "--format", "sarif")
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert {result["properties"]["module"] for result in run["results"]} == {"a"}
    assert run["invocations"][0]["executionSuccessful"] is False
    _scan("a", "b", "--format", "junit")
    suites = ElementTree.fromstring(capsys.readouterr().out.encode())
    assert [suite.get("name") for suite in suites] == ["a", "b"]


def test_the_report_may_go_to_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert _scan("a", "--format", "sarif", "--output", "report.sarif") == 1
    printed = capsys.readouterr().out
    assert json.loads(Path("report.sarif").read_text())["version"] == "2.1.0"
    assert printed.count("\n") == 1
    assert printed.startswith("3 findings in 1 file: 1 critical,")
    assert printed.endswith(" -> report.sarif\n")
    assert _scan("a", "--output", "nowhere/report.txt") == 2
    assert capsys.readouterr().err == "error: nowhere/report.txt: could not be written: No such file or directory\n"


@pytest.mark.parametrize("words", [["--output", "old"], ["--write-baseline", "old"]], ids=["report", "baseline"])
def test_a_full_disk_leaves_the_old_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Path("old").write_text("old")
    monkeypatch.setattr("rl_gym.gym.files.os.fsync", full)
    assert _scan("a", *words) == 2
    assert capsys.readouterr().err == "error: old: could not be written: No space left on device\n"
    assert Path("old").read_text() == "old"


def test_what_terraform_would_refuse_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a/main.tf").write_text(PROBLEMS)
    assert _scan("a", "--fail-on", "critical") == 1
    printed = capsys.readouterr().out
    assert "a/main.tf:3  critical  schema" in printed
    assert "fix: did you mean 'description'?" in printed
    assert "a/main.tf:5  critical  reference" in printed
    assert _scan("a", "--severity", "schema=off", "--severity", "reference=off") == 0


def test_a_part_of_a_module_may_refer_to_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a/main.tf").write_text(PROBLEMS.replace("descripton ", "description"))
    assert _scan("a") == 1
    assert _scan("a/main.tf") == 0
    assert "a/main.tf:5  unknown  reference" in capsys.readouterr().out


def test_what_is_not_built_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert _scan("a", "--fail-on", "critical", "--severity", "rds_public=off", "--required", "aws_vpc") == 1
    printed = capsys.readouterr().out
    assert "a/main.tf:1  critical  builds_required  not all of aws_vpc is surely created and configured" in printed


class TestEngines:
    def test_names_come_by_commas_and_by_repetition(self, witness: Witness, capsys: pytest.CaptureFixture[str]) -> None:
        assert _scan("a", "--engine", "builtin,checkov", "--engine", "checkov", "--format", "json") == 1
        (module,) = json.loads(capsys.readouterr().out)["modules"]
        assert [engine["engine"] for engine in module["engines"]] == ["checkov"]
        assert [issue["rule"] for issue in module["issues"] if issue["engine"] == "checkov"] == ["deny"]

    @pytest.mark.parametrize("form", ["table", "json", "sarif", "junit", "github"])
    def test_what_an_engine_says_is_in_every_format(
        self, witness: Witness, capsys: pytest.CaptureFixture[str], form: str
    ) -> None:
        assert _scan("a", "--engine", "checkov", "--format", form) == 1
        printed = capsys.readouterr().out
        assert "deny" in printed
        assert "denied" in printed

    @pytest.mark.parametrize("form", ["table", "json", "sarif", "junit", "github"])
    def test_one_that_does_not_answer_is_told_and_2(
        self, witness: Witness, capsys: pytest.CaptureFixture[str], form: str
    ) -> None:
        witness.report = EngineReport("checkov", "missing", detail="install it")
        assert _scan("a", "--engine", "checkov", "--format", form) == 2
        printed = capsys.readouterr()
        assert printed.err == "error: a: checkov did not answer (missing): install it\n"
        assert form == "table" or "install it" in printed.out

    def test_a_plan_has_no_text_for_them(self, capsys: pytest.CaptureFixture[str]) -> None:
        plan = {"planned_values": {"root_module": {}}, "resource_changes": [], "configuration": {}}
        Path("plan.json").write_text(json.dumps(plan))
        assert _scan("plan.json", "--engine", "checkov") == 2
        printed = capsys.readouterr()
        assert printed.err == "error: plan.json: scan: a plan is judged by the built-in engine alone\n"


def test_terraform_s_own_spelling_of_flags_is_taken() -> None:
    Path("a/main.tf").write_text('variable "v" {}\nresource "aws_kms_key" "k" {\n  enable_key_rotation = var.v\n}\n')
    Path("off.tfvars").write_text("v = false\n")
    base = ["scan", "a", "--ruleset", "seed18", "--fail-on", "medium"]
    assert main(base) == 0
    for words in (["-var-file", "off.tfvars"], ["-var-file=off.tfvars"], ["-var", "v=false"], ["-var=v=false"]):
        assert main([*base, *words]) == 1
