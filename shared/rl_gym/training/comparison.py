"""Two runs side by side: what they were told, what their policies score, what audit and gate said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rl_gym.gym import records
from rl_gym.gym.audit import read_report
from rl_gym.gym.files import read_document
from rl_gym.gym.ladder import LadderRow, Lift, ladder, lifts
from rl_gym.gym.pairing import MEASURES, Splits, check_comparable, values_by_episode
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import Interval, paired_difference
from rl_gym.infra.errors import UsageError
from rl_gym.training.chain import trainers
from rl_gym.training.collapse import run_alarms
from rl_gym.training.run import Run

__all__ = ["Comparison", "Findings", "compare"]

Key = tuple[str, str]
"""Split and policy."""

_UNTOLD = "-"


@dataclass(frozen=True)
class Findings:
    """What one run has found so far; a stage that has not ended has found nothing."""

    run: Run
    settings: Mapping[str, str]
    completions: Sequence[RecordedCompletion]
    alarms: Sequence[str]
    audit: Sequence[str]
    decision: str
    reasons: Sequence[str]

    @cached_property
    def rungs(self) -> dict[Key, LadderRow]:
        return {(row.split, row.policy): row for row in ladder(self.completions)}

    @cached_property
    def lifts(self) -> dict[tuple[str, str, str], Lift]:
        return {(lift.split, lift.before, lift.after): lift for lift in lifts(self.completions)}

    @classmethod
    def of(cls, folder: Path) -> Findings:
        """Read a run folder; UsageError, in one line, where it is none or damaged."""
        run = Run.open(folder)
        # As the gate takes them: of the training that made the candidate.
        trained = trainers(run.stages)[-1:]
        has = {stage: run.ended(stage) and run.stands(stage) for stage in (*trained, "evaluate", "audit", "gate")}
        verdict = read_document(run.folder / "gate" / "verdict.json") if has["gate"] else {}
        return cls(
            run=run,
            settings=dict(_settings(run)),
            completions=records.read(run.folder / "evaluate" / "completions.jsonl") if has["evaluate"] else [],
            alarms=[alarm for stage in trained if has[stage] for alarm in run_alarms(run, stage)],
            audit=read_report(run.folder / "audit" / "report.json").verdict_lines if has["audit"] else [],
            decision=str(verdict.get("decision", _UNTOLD)),
            reasons=[str(reason) for reason in verdict.get("reasons", [])],
        )


@dataclass(frozen=True)
class Comparison:
    """Two runs; `incomparable` says why their rewards may not be set against each other, "" where they may."""

    first: Findings
    second: Findings
    incomparable: str

    @property
    def settings(self) -> dict[str, tuple[str, str]]:
        """What differs between the two: keys of the configuration, versions, digests of what they started from."""
        pair = self.first.settings, self.second.settings
        both = {key: (pair[0].get(key, _UNTOLD), pair[1].get(key, _UNTOLD)) for key in sorted({*pair[0], *pair[1]})}
        return {key: values for key, values in both.items() if values[0] != values[1]}

    @property
    def rungs(self) -> list[Key]:
        """The split and policy of each rung that either has, in the order of the first."""
        return [*dict.fromkeys([*self.first.rungs, *self.second.rungs])]

    @cached_property
    def differences(self) -> dict[Key, Interval]:
        """Second less first, in sampled reward and paired by episode, of each policy that both sampled alike."""
        if self.incomparable:
            return {}
        pairs = {key: (_sampled(self.first, key), _sampled(self.second, key)) for key in self.rungs}
        return {key: paired_difference(*pair) for key, pair in pairs.items() if all(pair)}

    def to_dict(self) -> dict[str, Any]:
        return {
            "runs": [str(found.run.folder) for found in (self.first, self.second)],
            "differs": {key: list(values) for key, values in self.settings.items()},
            "ladders": [[row.to_dict() for row in found.rungs.values()] for found in (self.first, self.second)],
            "lifts": [[lift.to_dict() for lift in found.lifts.values()] for found in (self.first, self.second)],
            "incomparable": self.incomparable,
            "differences": [
                {"split": split, "policy": policy, "reward": change.to_dict()}
                for (split, policy), change in self.differences.items()
            ],
            "training_alarms": [list(found.alarms) for found in (self.first, self.second)],
            "audits": [list(found.audit) for found in (self.first, self.second)],
            "verdicts": [
                {"decision": found.decision, "reasons": list(found.reasons)} for found in (self.first, self.second)
            ],
        }


def compare(first: Path, second: Path) -> Comparison:
    """Read two run folders; UsageError, in one line, where one is none or damaged."""
    pair = Findings.of(first), Findings.of(second)
    return Comparison(*pair, incomparable=_incomparable(*pair))


def _incomparable(first: Findings, second: Findings) -> str:
    """Why rewards of the two may not be compared: other judges, or other episodes."""
    if not (first.completions and second.completions):
        return "not both are evaluated"
    splits: dict[str, dict[str, list[RecordedCompletion]]] = {}
    for name, found in (("first", first), ("second", second)):
        for record in found.completions:
            splits.setdefault(record.split, {}).setdefault(f"{record.policy} of the {name} run", []).append(record)
    checked: Splits = splits
    try:
        check_comparable(checked)
    except UsageError as error:
        return str(error)
    return ""


def _sampled(found: Findings, key: Key) -> dict[str, list[float]]:
    own = [record for record in found.completions if (record.split, record.policy) == key and not record.greedy]
    return values_by_episode(own, MEASURES["reward"])


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    yield from _flat(run.config.model_dump(mode="json"), "")
    document = read_document(run.folder / "run.json")
    for part in ("versions", "digests"):
        yield from _flat(
            {name: value for name, value in document.get(part, {}).items() if name != "config"}, f"{part}."
        )


def _flat(section: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, str(value)
