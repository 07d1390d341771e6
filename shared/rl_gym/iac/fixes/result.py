"""What fixing a configuration came to: the files, what was fixed, and what was left and why."""

from __future__ import annotations

import difflib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rl_gym.iac.report import Finding, ScanReport

__all__ = ["FixResult", "Left", "unified_diff"]


class Left(NamedTuple):
    """A finding that is still there, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True)
class FixResult:
    """A configuration after its fixes.

    `files` are all of its files, by the names that they were given with; `applied` the findings that are gone, as they
    were before; `left` the failures that are still there. `before` and `after` are the scans around it.
    """

    files: Mapping[str, str] = field(repr=False)
    applied: Sequence[Finding]
    left: Sequence[Left]
    before: ScanReport = field(repr=False)
    after: ScanReport = field(repr=False)
    originals: Mapping[str, str] = field(repr=False)

    @property
    def changed(self) -> list[str]:
        """The names of the files that are not as they were."""
        return [name for name, text in self.files.items() if text != self.originals[name]]

    def diff(self, shown: Callable[[str], str] = str) -> str:
        """A unified diff of what changed, empty where nothing did; `shown` gives the path to print for a file."""
        return "".join(
            line for name in self.changed for line in unified_diff(self.originals[name], self.files[name], shown(name))
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values; `author` says whose work the files are."""
        return {
            "author": "fixer",
            "files": {name: self.files[name] for name in self.changed},
            "applied": [finding.to_dict() for finding in self.applied],
            "left": [{**one.finding.to_dict(), "left": one.reason} for one in self.left],
        }


def unified_diff(old: str, new: str, path: str) -> Iterator[str]:
    """The lines of a unified diff of one file, as `patch` and `git apply` read them."""
    path = path.lstrip("/")
    before, after = (io.StringIO(text, newline="\n").readlines() for text in (old, new))
    for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
