"""Fixing a configuration: rounds of edits, each kept only where a new scan shows that it helped and did no harm.

What comes out is a fixer's work. It is named as such wherever it goes, and never trains a model as that model's own.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

from rl_gym.hcl import HclError, Limits
from rl_gym.hcl.limits import FILES
from rl_gym.hcl.overrides import is_override
from rl_gym.iac.context import Context
from rl_gym.iac.defaults import DEFAULT_RULESET
from rl_gym.iac.fixes.catalog import CLOSING, FIXERS
from rl_gym.iac.fixes.conditions import openings
from rl_gym.iac.fixes.edits import Edit, apply, clash, ended
from rl_gym.iac.fixes.fixers import Subject, UnfixableError
from rl_gym.iac.fixes.result import FixResult, Left
from rl_gym.iac.report import Finding, ScanReport
from rl_gym.iac.rules import Ruleset, get_ruleset
from rl_gym.iac.scan import judge, read

__all__ = ["fix", "fixable"]

_MOST_TRIALS = 100
"""How often files are scanned with edits in them. A trial tells of all edits at once, unless one did harm unnoticed."""


def fixable(rule_id: str) -> bool:
    """Whether a rule has a fixer. It may still leave a resource alone, where a person has to decide."""
    return rule_id in FIXERS


def fix(
    files: Mapping[str, str],
    *,
    ruleset: str | Ruleset = DEFAULT_RULESET,
    variables: Mapping[str, Any] | None = None,
    only: Collection[str] | None = None,
    wanted: Callable[[Finding], bool] = lambda finding: True,
    excused: Callable[[Finding], bool] = lambda finding: False,
    keep: Mapping[str, str] = MappingProxyType({}),
    limits: Limits = FILES,
) -> FixResult:
    """Fix what fails in the files of a module, by relative path, as far as that is mechanical.

    `only` names the rules to fix, `wanted` chooses among findings, `keep` names files not to touch, and why. What is
    `excused` is meant as it is: a bucket that somebody answers for being public is not closed by the fix of another
    finding. Text is edited where the finding is: layout and comments stay, what is clean under `terraform fmt`
    stays so, and fixing the result again changes nothing. An edit after which the finding is still there, or another
    one or a problem is new, is dropped. Raises HclError where the files cannot be read.
    """
    chosen = get_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    start = _read({name: ended(text) for name, text in files.items()}, chosen, variables, limits)
    failing = [one for one in start.report.findings if one.verdict == "fail"]
    targets = {_key(one): one for one in failing if (only is None or one.rule in only) and wanted(one)}
    meant = {_key(one) for one in failing if excused(one)}
    fixing = _Fixing(start, lambda texts: _read(texts, chosen, variables, limits), targets, meant, keep)
    fixing.run()
    return fixing.result(files)


_Key = tuple[str, str]
"""What names a finding from scan to scan: rule and address."""


class _State(NamedTuple):
    """The files at one moment, and what a scan says of them."""

    files: Mapping[str, str]
    context: Context
    report: ScanReport
    bad: Mapping[_Key, str]
    """The verdicts that are no passes."""


class _Attempt(NamedTuple):
    """The edits for the findings of one rule about one block, which may make several resources."""

    findings: list[Finding]
    edits: list[Edit]


def _read(files: Mapping[str, str], ruleset: Ruleset, variables: Mapping[str, Any] | None, limits: Limits) -> _State:
    context = read(None, files=files, variables=variables, limits=limits)
    report = judge(context, ruleset)
    return _State(files, context, report, {_key(one): one.verdict for one in report.findings})


class _Fixing:
    def __init__(
        self,
        start: _State,
        read_again: Callable[[Mapping[str, str]], _State],
        targets: Mapping[_Key, Finding],
        meant: Collection[_Key],
        keep: Mapping[str, str],
    ) -> None:
        self._start = self._now = start
        self._read = read_again
        self._targets = targets
        self._meant = meant
        self._keep = keep
        self._refused: dict[_Key, str] = {}
        self._overridden = any(map(is_override, start.files))
        self._trials = 0

    def run(self) -> None:
        """Rounds until all that is left was refused, even after the last edit that was applied."""
        retried = True
        while True:
            batch = self._batch()
            better = self._best(batch)
            if better is not None:
                self._now, retried = better, False
            elif batch:
                # All of it was refused, which makes room for what was in its way.
                continue
            elif retried:
                return
            else:
                self._refused.clear()
                retried = True

    def result(self, originals: Mapping[str, str]) -> FixResult:
        failing = {key for key, verdict in self._now.bad.items() if verdict == "fail"}
        left = [
            Left(one, self._refused.get(key) or f"a person has to decide: {one.fix}")
            for key, one in self._targets.items()
            if key in failing
        ]
        applied = [one for key, one in self._targets.items() if key not in failing]
        files = {name: _ended_as(text, originals[name]) for name, text in self._now.files.items()}
        return FixResult(files, applied, left, self._start.report, self._now.report, originals)

    def _batch(self) -> list[_Attempt]:
        """An attempt for each finding that has not been refused, as far as their edits keep out of each other's way."""
        batch: list[_Attempt] = []
        taken: list[Edit] = []
        for findings in self._groups():
            try:
                edits = self._edits(findings[0])
            except UnfixableError as reason:
                self._refuse(findings, str(reason))
                continue
            if not any(_is_taken(edit, taken) for edit in edits):
                batch.append(_Attempt(findings, edits))
                for edit in edits:
                    insort(taken, edit)
        return batch

    def _groups(self) -> Iterator[list[Finding]]:
        """The findings that can be fixed, those of one rule about one block together."""
        groups: dict[tuple[str, str, int], list[Finding]] = {}
        # Companions are added right below their resource: from the least severe, so that the most severe stands first.
        for one in reversed(self._now.report.findings):
            key = _key(one)
            if one.verdict == "fail" and one.rule in FIXERS and key in self._targets and key not in self._refused:
                resource = self._now.context.find(one.address)
                if resource is not None:
                    groups.setdefault((one.rule, resource.filename, resource.line), []).append(one)
        yield from groups.values()

    def _edits(self, finding: Finding) -> list[Edit]:
        resource = self._now.context.find(finding.address)
        if resource is None:
            raise UnfixableError("its resource is not in the files")
        subject = Subject.of(resource, self._now.context)
        self._refuse_to_close(finding.rule, subject)
        found = sorted(set(FIXERS[finding.rule](subject)))
        if not found:
            raise UnfixableError("what breaks the rule is not written out where it could be changed")
        if self._overridden:
            raise UnfixableError("override files may change what is written here")
        for edit in found:
            if edit.filename in self._keep:
                raise UnfixableError(self._keep[edit.filename])
        if any(clash(one, other) for one, other in pairwise(found)):
            raise UnfixableError("it is written on one line")
        return found

    def _refuse_to_close(self, rule: str, subject: Subject) -> None:
        if rule in CLOSING:
            for other, address in openings(subject):
                if (other, address) in self._meant:
                    raise UnfixableError(f"{other} of {address} is excused: the edit may shut out whom that lets in")

    def _best(self, batch: Sequence[_Attempt]) -> _State | None:
        """The files after as much of a batch as helps and does no harm; None where nothing of it does."""
        if not batch:
            return None
        if self._trials == _MOST_TRIALS:
            for attempt in batch:
                self._refuse(attempt.findings, "too many other edits had to be tried one by one")
            return None
        self._trials += 1
        try:
            state = self._read(self._edited(batch))
        except HclError as error:
            return self._divided(batch, f"the files could not be read afterwards: {error.message}")
        helping = [attempt for attempt in batch if self._helps(attempt, state)]
        if len(helping) < len(batch):
            return self._best(helping)
        harms = self._harms(state)
        return self._without_harm(batch, harms, state) if harms else state

    def _without_harm(self, batch: Sequence[_Attempt], harms: Mapping[str, str], state: _State) -> _State | None:
        """What is best of a batch that does harm: what is not under suspicion, which waits for another round.

        Of several that may have done the same harm half is tried at once. Where all are suspected, each of something
        that no other can have done, they are refused. What nobody is suspected of is looked for among all of them.
        """
        waiting: set[int] = set()
        guilty: dict[int, str] = {}
        suspects = self._suspects(batch, harms, state)
        for address, positions in suspects.items():
            waiting.update(positions[len(positions) // 2 :])
            if len(positions) == 1:
                guilty[positions[0]] = harms[address]
        if not waiting:
            return self._divided(batch, next(iter(harms.values())))
        rest = [attempt for position, attempt in enumerate(batch) if position not in waiting]
        if rest:
            return self._best(rest)
        for position, harm in guilty.items():
            self._refuse(batch[position].findings, harm)
        return None

    def _suspects(self, batch: Sequence[_Attempt], harms: Iterable[str], state: _State) -> dict[str, list[int]]:
        """For each address that harm is about, the positions of the attempts at it or at what it refers to."""
        attempts: dict[str, list[int]] = {}
        for position, attempt in enumerate(batch):
            for address in self._addresses(attempt):
                attempts.setdefault(address, []).append(position)
        found: dict[str, list[int]] = {}
        for address in harms:
            resource = state.context.find(address)
            about = {address, *(resource.references() if resource else ())}
            found[address] = sorted({position for name in about for position in attempts.get(name, ())})
        return found

    def _addresses(self, attempt: _Attempt) -> set[str]:
        """The addresses of the resources that an attempt is for, with and without the keys of instances."""
        found = {one.address for one in attempt.findings}
        resources = [self._now.context.find(address) for address in found]
        return found | {resource.base_address for resource in resources if resource is not None}

    def _divided(self, batch: Sequence[_Attempt], harm: str) -> _State | None:
        """What is best of a batch that does harm: of either half, down to the attempt that does it."""
        if len(batch) == 1:
            self._refuse(batch[0].findings, harm)
            return None
        half = len(batch) // 2
        return self._best(batch[:half]) or self._best(batch[half:])

    def _edited(self, batch: Sequence[_Attempt]) -> dict[str, str]:
        edits: dict[str, list[Edit]] = {}
        for edit in (edit for attempt in batch for edit in attempt.edits):
            edits.setdefault(edit.filename, []).append(edit)
        changed = {name: apply(self._now.files[name], those) for name, those in edits.items()}
        return {**self._now.files, **changed}

    def _helps(self, attempt: _Attempt, state: _State) -> bool:
        """Whether the rule passes where it was to, after the edits; an attempt that does not help is refused.

        What may not be created at all passes nothing: that it does not fail is all there is to reach.
        """
        for one in attempt.findings:
            resource = state.context.find(one.address)
            surely = resource is not None and resource.created is True
            if state.bad.get(_key(one)) in (("fail", "unknown") if surely else ("fail",)):
                self._refuse(attempt.findings, "an edit of what is written there would not make it pass")
                return False
        return True

    def _harms(self, state: _State) -> dict[str, str]:
        """What is wrong with the files after edits that was not before, by the address that it is about."""
        found: dict[str, str] = {}
        for (rule, address), verdict in state.bad.items():
            if self._now.bad.get((rule, address)) not in ("fail", verdict):
                found.setdefault(address, f"the edit would make {rule} {verdict} for {address}")
        for _, message, address in _problems(state.report) - _problems(self._now.report):
            found.setdefault(address, f"Terraform would refuse the edit: {message}")
        return found

    def _refuse(self, findings: Sequence[Finding], reason: str) -> None:
        self._refused.update((_key(one), reason) for one in findings)


def _is_taken(edit: Edit, taken: Sequence[Edit]) -> bool:
    """Whether the place of an edit is that of one among others, which are in order and do not clash themselves."""
    at = bisect(taken, edit)
    return any(clash(edit, other) for other in taken[max(at - 1, 0) : at + 1])


def _key(finding: Finding) -> _Key:
    return finding.rule, finding.address


def _problems(report: ScanReport) -> Counter[tuple[str, str, str]]:
    """What Terraform would refuse, without the lines, which edits move."""
    return Counter((one.kind, one.message, one.address) for one in report.problems)


def _ended_as(text: str, original: str) -> str:
    """A text without a final newline where the original had none."""
    return text if original.endswith("\n") else text.removesuffix("\n").removesuffix("\r")
