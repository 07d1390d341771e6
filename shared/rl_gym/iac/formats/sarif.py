"""Judged modules as a SARIF 2.1.0 log, for code scanning: one run per engine, whatever the number of modules.

The properties `security-severity` and `tags` of a rule are those that GitHub reads.
Format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import rl_gym
from rl_gym.iac.rules.registry import Rule
from rl_gym.iac.triage.issues import BUILTIN, PROBLEM_RULES, Issue, JudgedModule

__all__ = ["sarif_log"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_SCORES = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.0"}
"""In the middle of the ranges that GitHub shows as critical, high, medium and low."""


def sarif_log(modules: Sequence[JudgedModule]) -> dict[str, Any]:
    """The log of several modules as JSON values.

    What cannot be told is a result of kind `open`, under a rule of its own (`RULE/unknown`) that carries no severity:
    else whoever blocks a merge by severity would block it for what nobody knows. What is excused stays, suppressed.
    """
    engines = dict.fromkeys(report.engine for module in modules for report in module.report.engines)
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [_builtin_run(modules), *(_engine_run(name, modules) for name in engines)],
    }


def _builtin_run(modules: Sequence[JudgedModule]) -> dict[str, Any]:
    rules = {rule.id: rule for module in modules for rule in module.report.ruleset.rules}
    rulesets = {module.report.ruleset.name: module.report.ruleset.digest for module in modules}
    errors = [
        _notification(error.message, location=_location(error.filename, error.line, error.column))
        for module in modules
        for error in module.errors
    ]
    unread = [issue for module in modules for issue in module.issues if issue.rule == "module"]
    warnings = [
        _notification(f"{issue.address}: {issue.reason}", "warning", _location(issue.path, issue.line, issue.column))
        for issue in unread
    ]
    driver = {"name": "rl-gym", "version": rl_gym.__version__, "semanticVersion": rl_gym.__version__}
    return {**_run(driver, BUILTIN, modules, rules, [*errors, *warnings]), "properties": {"rulesets": rulesets}}


def _engine_run(engine: str, modules: Sequence[JudgedModule]) -> dict[str, Any]:
    version = next((one.version for module in modules for one in module.report.engines if one.engine == engine), "")
    silent = [
        _notification(f"{module.name}: {module.silences[engine]}") for module in modules if engine in module.silences
    ]
    return _run({"name": engine, **({"version": version} if version else {})}, engine, modules, {}, silent)


def _run(
    driver: Mapping[str, Any],
    engine: str,
    modules: Sequence[JudgedModule],
    rules: Mapping[str, Rule],
    notifications: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    issues = [(module, issue) for module in modules for issue in module.issues if issue.engine == engine]
    described = {_rule_id(issue): _descriptor(issue, rules.get(issue.rule)) for _, issue in issues}
    for rule in rules.values():
        described.setdefault(rule.id, _described(rule))
    positions = {identifier: position for position, identifier in enumerate(described)}
    successful = not any(notification["level"] == "error" for notification in notifications)
    return {
        "tool": {"driver": {**driver, "rules": list(described.values())}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": successful, "toolExecutionNotifications": list(notifications)}],
        "results": [_result(issue, module.name, positions[_rule_id(issue)]) for module, issue in issues],
    }


def _rule_id(issue: Issue) -> str:
    return issue.rule if issue.verdict == "fail" else f"{issue.rule}/unknown"


def _descriptor(issue: Issue, rule: Rule | None) -> dict[str, Any]:
    """The rule of an issue, as severe as the issue is: a project may have weighed it anew."""
    if issue.verdict == "unknown":
        title = rule.title if rule else PROBLEM_RULES.get(issue.rule, issue.rule)
        return {
            "id": _rule_id(issue),
            "shortDescription": {"text": f"Not known: {title}"},
            "defaultConfiguration": {"level": "none"},
        }
    if rule is not None:
        return _described(rule, issue.severity)
    if issue.engine == BUILTIN:
        # No security-severity: what Terraform refuses is an error, and no hole.
        return {
            "id": issue.rule,
            "shortDescription": {"text": PROBLEM_RULES[issue.rule]},
            "defaultConfiguration": {"level": _LEVELS[issue.severity]},
            "properties": {"tags": ["correctness", "terraform"]},
        }
    return {
        "id": _rule_id(issue),
        "shortDescription": {"text": issue.reason or _rule_id(issue)},
        **_severity(issue.severity, ["security", "terraform"]),
    }


def _described(rule: Rule, severity: str = "") -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why or rule.title},
        "help": {"text": _help(rule), "markdown": _help(rule, "`", "```")},
        **_severity(severity or rule.severity, ["security", "terraform", rule.family, *rule.references]),
    }


def _help(rule: Rule, tick: str = "", fence: str = "") -> str:
    parts = [rule.why or rule.title, f"Fix: {rule.fix}", f"More: {tick}rl-gym explain {rule.id}{tick}"]
    for label, example in (("Fails", rule.failing), ("Passes", rule.passing)):
        if example:
            parts.append("\n".join(filter(None, (f"{label}:", fence and f"{fence}hcl", example, fence))))
    return "\n\n".join(parts)


def _severity(severity: str, tags: Iterable[str]) -> dict[str, Any]:
    return {
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {
            "tags": list(dict.fromkeys(tags)),
            "security-severity": _SCORES[severity],
        },
    }


def _result(issue: Issue, module: str, rule_index: int) -> dict[str, Any]:
    failed = issue.verdict == "fail"
    subject = f"{issue.address}: " if issue.address else ""
    advice = f". Fix: {issue.fix}" if issue.fix else ""
    result: dict[str, Any] = {
        "ruleId": _rule_id(issue),
        "ruleIndex": rule_index,
        "kind": "fail" if failed else "open",
        "level": _LEVELS[issue.severity] if failed else "none",
        "message": {"text": _without_links(f"{subject}{issue.reason}{advice}")},
        "locations": [_location(issue.path, issue.line, issue.column, issue.address)],
        "partialFingerprints": {"rlGymIssue/v1": issue.fingerprint},
        "properties": {"module": module, "severity": issue.severity},
    }
    if issue.suppression is not None:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": issue.suppression.reason}]
    return result


def _without_links(text: str) -> str:
    """A message in which nothing reads as a link: a viewer makes one of `[text](target)`."""
    return text.replace("](", "] (")


def _notification(message: str, level: str = "error", location: Mapping[str, Any] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"level": level, "message": {"text": _without_links(message)}}
    return {**found, "locations": [location]} if location else found


def _location(path: str, line: int, column: int = 0, address: str = "") -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if line:
        place["region"] = {"startLine": line, **({"startColumn": column} if column else {})}
    location: dict[str, Any] = {"physicalLocation": place}
    if address:
        location["logicalLocations"] = [{"fullyQualifiedName": address, "kind": "resource"}]
    return location


def _uri(path: str) -> str:
    """A path as a URI reference: relative to where the scan ran, which code scanning takes for the repository."""
    quoted = quote(path.replace("\\", "/"), safe="/~")
    return f"file://{quoted}" if posixpath.isabs(path) else quoted
