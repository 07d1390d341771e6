"""The baseline: a file of findings that are known, so that a scan alarms about new ones alone.

A finding is known by its rule, address and file, each as often as it was there: it may move to other lines.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rl_gym.gym.files import replace_text
from rl_gym.iac.triage.issues import Issue, JudgedModule, Suppression
from rl_gym.infra.errors import UsageError
from rl_gym.infra.text_files import parsed_json, read_text

__all__ = ["Baseline", "read_baseline", "write_baseline"]

_VERSION = 1
_LARGEST = 16 * 1024 * 1024

Key = tuple[str, str, str, str]
"""Engine, rule, address and path, the last from the folder of the baseline."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings and how often each was there; `path` is the file that they stand in."""

    path: str
    known: Counter[Key]

    def applied(self, modules: Iterable[JudgedModule]) -> tuple[list[JudgedModule], int]:
        """The modules with what is known suppressed, and how many known findings are there no longer."""
        left = self.known.copy()
        folder = _folder(self.path)
        marked = [
            replace(module, issues=[self._marked(issue, left, folder) for issue in module.issues]) for module in modules
        ]
        return marked, left.total()

    def _marked(self, issue: Issue, left: Counter[Key], folder: str) -> Issue:
        if not issue.counts:
            return issue
        key = _key(issue, folder)
        if not left[key]:
            return issue
        left[key] -= 1
        return replace(issue, suppression=Suppression("known", f"known: listed in {self.path}"))


def read_baseline(path: str) -> Baseline:
    """The baseline in a file; raises UsageError where it is none."""
    if not os.path.lexists(path):
        raise UsageError(f"{path}: No such file or directory: write it with --write-baseline")
    document = parsed_json(read_text(path, _LARGEST), path)
    try:
        return Baseline(path, _counted(document))
    except (ValueError, TypeError, KeyError):
        raise UsageError(f"{path}: not a baseline of version {_VERSION}: write it again") from None


def write_baseline(path: str, modules: Iterable[JudgedModule]) -> int:
    """Write every finding that counts or is known; returns how many they are."""
    folder = _folder(path)
    issues = [issue for module in modules for issue in module.issues]
    known = Counter(_key(issue, folder) for issue in issues if issue.counts or _is_known(issue))
    names = ("engine", "rule", "address", "path")
    findings = [{**dict(zip(names, key, strict=True)), "count": known[key]} for key in sorted(known)]
    document = {"version": _VERSION, "findings": findings}
    replace_text(Path(path), json.dumps(document, indent=1) + "\n", parents=False)
    return known.total()


def _counted(document: dict[str, Any]) -> Counter[Key]:
    if document["version"] != _VERSION:
        raise ValueError(document["version"])
    known: Counter[Key] = Counter()
    for entry in document["findings"]:
        if type(entry["count"]) is not int or entry["count"] < 1:
            raise ValueError(entry["count"])
        known[entry["engine"], entry["rule"], entry["address"], entry["path"]] += entry["count"]
    return known


def _is_known(issue: Issue) -> bool:
    return issue.suppression is not None and issue.suppression.kind == "known"


def _folder(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))


def _key(issue: Issue, folder: str) -> Key:
    relative = os.path.relpath(os.path.abspath(issue.path), folder)
    return issue.engine, issue.rule, issue.address, relative.replace(os.sep, posixpath.sep)
