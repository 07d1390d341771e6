"""Modules to write down: what fails, what cannot be told, what is excused, what is unreadable, and hostile names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rl_gym.iac.engines.report import EngineFinding, EngineReport
from rl_gym.iac.report import Problem, ScanError
from rl_gym.iac.scan import scan
from rl_gym.iac.triage import JudgedModule, Suppression, judged

DATABASE = """
variable "v" {}
resource "aws_db_instance" "d" {
  engine              = "mysql"
  publicly_accessible = true
  storage_encrypted   = var.v
  tags                = { Name = "d" }
}
"""

HOSTILE = "[a](//b)\x1b[31m\n::error::b\r\u202e]]><script>&\"'%0A,:\x00\ud800"
"""What would move a terminal, be a link, close an XML section, or give a command, were it not text."""


@pytest.fixture
def modules() -> list[JudgedModule]:
    report = scan(DATABASE, files={"key.tf": 'resource "aws_kms_key" "k" {}\n'})
    checkov = EngineReport(
        "checkov", "answered", "3.2", findings=[EngineFinding("CKV_AWS_7", "a.b", "main.tf", 2, "m")]
    )
    problems = [Problem("schema", "no argument 'nmae'", "main.tf", 3, 5, "aws_db_instance.d", "name")]
    silent = EngineReport("opa", "missing", detail="regorus is not installed")
    first = judged(
        replace(report, problems=problems, engines=[checkov, silent]), name="infra", path=lambda name: f"infra/{name}"
    )
    excuse = Suppression("waived", "a key of tests")
    issues = [replace(one, suppression=excuse) if one.path == "infra/key.tf" else one for one in first.issues]
    second = judged(scan('resource "aws_kms_key" "k" {'), name="broken")
    return [replace(first, issues=issues), second]


@pytest.fixture
def hostile() -> list[JudgedModule]:
    """A module with hostile names wherever a name may stand, and an unreadable one."""
    report = scan(None, files={f"{HOSTILE}.tf": DATABASE, f"{HOSTILE}.tfvars": "v = false\n"})
    problem = Problem("schema", HOSTILE, HOSTILE, 1, 1, HOSTILE, HOSTILE)
    finding = EngineFinding(HOSTILE, HOSTILE, HOSTILE, 1, HOSTILE)
    engines = [EngineReport("checkov", "answered", findings=[finding]), EngineReport("opa", "failed", detail=HOSTILE)]
    judgement = judged(replace(report, problems=[problem], engines=engines), name=HOSTILE)
    broken = replace(report, errors=[ScanError(HOSTILE, HOSTILE, 1, 2)])
    return [judgement, judged(broken, name=HOSTILE)]
