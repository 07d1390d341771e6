"""JUnit XML: well-formed whatever names say, and failing where the exit code is 1."""

from __future__ import annotations

from xml.etree import ElementTree

from rl_gym.iac.formats.junit import junit_xml
from rl_gym.iac.triage import JudgedModule

ALL = ("critical", "high", "medium", "low")


def _case(suites: ElementTree.Element, name: str) -> ElementTree.Element:
    (case,) = [case for case in suites.iter("testcase") if case.get("name") == name]
    return case


def test_a_suite_a_module_and_a_case_a_rule_and_resource(modules: list[JudgedModule]) -> None:
    suites = ElementTree.fromstring(junit_xml(modules, ALL))
    assert [suite.get("name") for suite in suites] == ["infra", "broken"]
    case = _case(suites, "rds_public aws_db_instance.d")
    assert (case.get("classname"), case.get("file"), case.get("line")) == ("infra/main.tf", "infra/main.tf", "5")
    failure = case.find("failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("critical", "the database is public")
    assert "fix: set publicly_accessible = false" in (failure.text or "")
    assert not list(_case(suites, "tags aws_db_instance.d"))

    assert _case(suites, "schema aws_db_instance.d").find("failure") is not None
    assert _case(suites, "CKV_AWS_7 a.b").find("failure") is not None
    assert _case(suites, "opa answers").find("error") is not None
    assert _case(suites, "can be read").find("error") is not None
    for name, reason in {
        "kms_rotation aws_kms_key.k": "a key of tests",
        "rds_encrypted aws_db_instance.d": "unknown: storage_encrypted is not known before apply",
    }.items():
        skipped = _case(suites, name).find("skipped")
        assert skipped is not None
        assert skipped.get("message") == reason


def test_counts_are_those_of_the_cases(modules: list[JudgedModule]) -> None:
    for suite in ElementTree.fromstring(junit_xml(modules, ALL)):
        for attribute, tag in {"tests": "testcase", "failures": "failure", "errors": "error"}.items():
            assert int(suite.get(attribute, "")) == len(list(suite.iter(tag)))
        assert suite.get("errors") == "1"


def test_what_does_not_alarm_does_not_fail(modules: list[JudgedModule]) -> None:
    suites = ElementTree.fromstring(junit_xml(modules, ("critical",)))
    assert {failure.get("type") for failure in suites.iter("failure")} == {"critical"}
    skipped = _case(suites, "rds_backup aws_db_instance.d").find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "medium: no backups are kept"


def test_hostile_text_stays_text(hostile: list[JudgedModule]) -> None:
    written = junit_xml(hostile, ALL)
    suites = ElementTree.fromstring(written.encode("utf-8"))
    assert {element.tag for element in suites.iter()} <= {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "error",
        "skipped",
    }
    assert "]]><script>" not in written
    assert written.replace("\n", "").isprintable()
