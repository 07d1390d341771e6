"""Judged modules as JUnit XML, for whatever shows test results: a suite a module, a case a rule and resource.

A case fails where it makes the exit code 1. What is excused, cannot be told, or is less severe than asked about is
skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from xml.etree import ElementTree

from rl_gym.iac.triage.issues import Issue, JudgedModule
from rl_gym.iac.triage.text import visible

__all__ = ["junit_xml"]


def junit_xml(modules: Sequence[JudgedModule], alarming: Collection[str]) -> str:
    """The document; `alarming` are the severities that make a case fail."""
    suites = ElementTree.Element("testsuites", name="rl-gym scan")
    for module in modules:
        suites.append(_suite(module, alarming))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _suite(module: JudgedModule, alarming: Collection[str]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=module.name)
    for error in module.errors:
        case = _case(suite, "can be read", error.filename, error.filename, error.line)
        ElementTree.SubElement(case, "error", message=error.message).text = str(error)
    for engine, silence in module.silences.items():
        ElementTree.SubElement(_case(suite, f"{engine} answers", engine), "error", message=silence)
    for issue in module.issues:
        case = _case(suite, f"{issue.rule} {issue.address}".rstrip(), issue.path, issue.path, issue.line)
        _tell(case, issue, alarming)
    for result in module.report.results:
        if result.verdict == "pass":
            _case(suite, visible(f"{result.rule} {result.address}"), visible(result.filename))
    for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))
    return suite


def _case(suite: ElementTree.Element, name: str, group: str, path: str = "", line: int = 0) -> ElementTree.Element:
    case = ElementTree.SubElement(suite, "testcase", name=name, classname=group)
    if path:
        case.set("file", path)
    if line:
        case.set("line", str(line))
    return case


def _tell(case: ElementTree.Element, issue: Issue, alarming: Collection[str]) -> None:
    if issue.suppression is not None:
        ElementTree.SubElement(case, "skipped", message=issue.suppression.reason)
    elif issue.verdict == "unknown":
        ElementTree.SubElement(case, "skipped", message=f"unknown: {issue.reason}")
    elif issue.severity not in alarming:
        ElementTree.SubElement(case, "skipped", message=f"{issue.severity}: {issue.reason}")
    else:
        failure = ElementTree.SubElement(case, "failure", message=issue.reason, type=issue.severity)
        advice = f"\nfix: {issue.fix}" if issue.fix else ""
        failure.text = f"{issue.path}:{issue.line}: {issue.severity}: {issue.reason}{advice}"
