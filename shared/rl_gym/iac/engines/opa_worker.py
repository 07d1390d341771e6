"""Judges a module by an organisation's policies for the engine `opa`: `python -m ... JOB` prints what is found as JSON.

The job has `policies` and `files`, texts by the names of their files, and `variables`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rl_gym.hcl import Configuration, HclError, Resource
from rl_gym.hcl.limits import FILES
from rl_gym.iac import scan
from rl_gym.iac.engines.report import EngineFinding
from rl_gym.iac.intent.plan_document import plan_document
from rl_gym.iac.intent.rego import Policies
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS
from rl_gym.infra.errors import RlGymError

__all__ = ["judge"]

_FINDS = re.compile(r"(deny|violation|warn)(_\w+)?")
"""Names of rules that hold what is wrong."""

_MOST_FINDINGS = 10_000
_MOST_TEXT = 2_000


def judge(job: Mapping[str, Any]) -> dict[str, Any]:
    """`findings`, rows of EngineFinding; or an `error`, with `missing` where no policy could find anything."""
    try:
        policies = Policies(job["policies"])
        rules = [rule.name for rule in policies.rules if _FINDS.fullmatch(rule.name.rpartition(".")[2])]
        if not rules:
            return {"error": "no policy has a rule named deny, violation or warn", "missing": True}
        context = scan.read(None, files=job["files"], variables=job["variables"], limits=FILES)
        document = plan_document(context.configuration, context.module, limits=FILES) if context.module else {}
        found = _found(policies, json.dumps(document), dict.fromkeys(rules))
    except HclError as error:
        return {"error": f"{error.filename}:{error.line}: {error.message}"}
    except RlGymError as error:
        return {"error": str(error)}
    whole = min(job["files"])
    return {"findings": [_placed(row, context.configuration, whole).to_dict() for row in found[:_MOST_FINDINGS]]}


def _found(policies: Policies, document: str, rules: Mapping[str, None]) -> list[dict[str, Any]]:
    values = zip(rules, policies.evaluate(document, rules), strict=True)
    return [row for rule, value in values for row in _rows(rule, value)]


def _placed(row: Mapping[str, Any], configuration: Configuration, whole: str) -> EngineFinding:
    """A finding at the resource that it names, or whose address stands in its reason, else in the file `whole`."""
    found = configuration.resource(row["address"]) or _mentioned(row["reason"], configuration)
    address = found.address if found else row["address"]
    filename, line = (found.filename, found.line) if found else (whole, 1)
    return EngineFinding(row["rule"], address, filename, line, row["reason"], row["severity"])


def _mentioned(reason: str, configuration: Configuration) -> Resource | None:
    """The resource of the longest address in a reason."""
    every = (one for one in (*configuration.resources(), *configuration.data()) if one.address in reason)
    return max(every, key=lambda one: len(one.address), default=None)


def _rows(rule: str, value: Any) -> Iterator[dict[str, Any]]:
    """What a rule holds: texts and objects in a set or list, one of these, or true."""
    for item in value if isinstance(value, list) else [value]:
        if item is not None and item is not False:
            yield _row(rule.removeprefix("data."), item)


def _row(rule: str, item: Any) -> dict[str, Any]:
    told = item if isinstance(item, dict) else {}
    message = told.get("msg", item)
    text = f"{rule} holds" if message is True else message if isinstance(message, str) else json.dumps(message)
    address, severity = told.get("address"), str(told.get("severity", "")).lower()
    return {
        "rule": rule,
        "address": address if isinstance(address, str) else "",
        "reason": text[:_MOST_TEXT],
        "severity": severity if severity in SEVERITY_WEIGHTS else "",
    }


if __name__ == "__main__":
    print(json.dumps(judge(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
