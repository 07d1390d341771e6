"""`rl-gym scan --fix`: fixes what is mechanical, and writes it in place, prints it, or shows it as a diff.

Only files that lie in what the command line names are changed, links followed: a module from elsewhere is read, and
left as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rl_gym.cli.scan_table import counted
from rl_gym.cli.terraform_files import Source
from rl_gym.gym.files import replace_text
from rl_gym.iac.fixes import FixResult, fix, fixable, unified_diff
from rl_gym.iac.rules import Ruleset
from rl_gym.iac.triage.text import visible
from rl_gym.infra.errors import UsageError

__all__ = ["Fixed", "fix_sources"]

_STANDARD_INPUT = "-"

Findings = Collection[tuple[str, str]]
"""Findings of one source, each by its rule and the address of its resource."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """What was fixed: the sources with their new texts, and for each path of a changed file its old and new text.

    `applied` counts the findings that are gone; `left` says, a line each, why others are not, whose rules have a fixer.
    """

    sources: Sequence[Source]
    changes: Mapping[str, tuple[str, str]]
    applied: int
    left: Sequence[str]

    def deliver(self, *, diff: bool) -> bool:
        """Print a diff, or the text where standard input was fixed, else write the files; whether it was printed.

        Raises UsageError, before anything is written, for a file that may not be.
        """
        if diff:
            for path, (old, new) in self.changes.items():
                sys.stdout.writelines(unified_diff(old, new, path))
            return True
        if any(source.name == _STANDARD_INPUT for source in self.sources):
            sys.stdout.writelines(text for source in self.sources for text in _own_files(source).values())
            return True
        for path in self.changes:
            if not os.access(path, os.W_OK):
                raise UsageError(f"{path}: may not be written")
        for path, (_, new) in self.changes.items():
            replace_text(Path(path), new, parents=False)
        return False

    def summary(self, *, diff: bool) -> str:
        """A few lines for people: what was left and why, and last how much was fixed."""
        what, where = counted(self.applied, "finding"), counted(len(self.changes), "file")
        return "\n".join([*self.left, f"{'would fix' if diff else 'fixed'} {what} in {where}"])


def fix_sources(
    sources: Sequence[Source],
    wanted: Sequence[Findings],
    excused: Sequence[Findings],
    paths: Sequence[str],
    ruleset: Ruleset,
) -> Fixed:
    """Fix the wanted findings of each source; one without any, such as one that cannot be read, stays as it is.

    What is excused is meant as it is, and other fixes respect it. `paths` are what the command line names. A file that
    several modules have is fixed with the first of them. Raises UsageError for a plan, which has no text, and for
    standard input beside anything else.
    """
    for source in sources:
        if source.plan is not None:
            raise UsageError(f"{source.title}: a plan cannot be fixed: name the .tf files that it was made from")
        if source.name == _STANDARD_INPUT and len(sources) > 1:
            raise UsageError("--fix prints what comes by standard input, and takes nothing beside it")
    tops = [os.path.realpath(path) for path in paths]
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    applied = 0
    left: list[str] = []
    for source, findings, meant in zip(sources, wanted, excused, strict=True):
        result = _fixed(_with_texts(source, new), findings, meant, tops, ruleset)
        if result is not None:
            applied += len(result.applied)
            left += _reasons(source, result)
            for name in result.changed:
                old.setdefault(source.path(name), result.originals[name])
                new[source.path(name)] = result.files[name]
    changes = {path: (old[path], text) for path, text in new.items()}
    return Fixed([_with_texts(source, new) for source in sources], changes, applied, left)


def _with_texts(source: Source, texts: Mapping[str, str]) -> Source:
    """A source with the new texts of those of its files that have one."""
    if source.files is None:
        return source
    return replace(source, files={name: texts.get(source.path(name), text) for name, text in source.files.items()})


def _fixed(
    source: Source, findings: Findings, meant: Findings, tops: Sequence[str], ruleset: Ruleset
) -> FixResult | None:
    if source.files is None or not findings:
        return None
    return fix(
        source.files,
        ruleset=ruleset,
        variables=source.variables,
        wanted=lambda finding: (finding.rule, finding.address) in findings,
        excused=lambda finding: (finding.rule, finding.address) in meant,
        keep=dict.fromkeys(_elsewhere(source, tops), "the file lies in nothing that was named: name its folder too"),
    )


def _reasons(source: Source, result: FixResult) -> Iterator[str]:
    for finding, reason in result.left:
        if fixable(finding.rule):
            path = source.path(finding.filename)
            yield visible(f"left: {path}: {finding.rule}: {finding.address}: {reason}")


def _own_files(source: Source) -> dict[str, str]:
    """The files of a source without the variable files that were named beside it."""
    return {name: text for name, text in (source.files or {}).items() if name not in source.given}


def _elsewhere(source: Source, tops: Sequence[str]) -> Iterator[str]:
    """The files of a source that lie in nothing of what was named."""
    if source.name == _STANDARD_INPUT:
        return
    for name in _own_files(source):
        path = os.path.realpath(source.path(name))
        if not any(path == top or path.startswith(os.path.join(top, "")) for top in tops):
            yield name
