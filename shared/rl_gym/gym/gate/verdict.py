"""A verdict: the decision, its reasons, every number it rests on, and the digests of all that was read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rl_gym.gym.core import content_hash
from rl_gym.gym.files import replace_text
from rl_gym.gym.gate.families import FamilyChange
from rl_gym.gym.statistics import Interval, McNemar

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["AnchorResult", "Decision", "Side", "Verdict", "write_verdict"]

Decision = Literal["PROMOTE", "BLOCK", "UNDECIDED"]
EXIT_CODES: Mapping[Decision, int] = {"PROMOTE": 0, "BLOCK": 2, "UNDECIDED": 3}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two policies: its rung, its weights, and the content of the completions that were read."""

    policy: str
    model: str
    records_digest: str

    def to_dict(self) -> dict[str, Any]:
        return {"policy": self.policy, "model": self.model, "records_digest": self.records_digest}


@dataclass(frozen=True, slots=True)
class AnchorResult:
    """What one anchor says of (candidate - incumbent), paired by episode.

    `detectable` is the smallest difference in reward that this many episodes show with 80% power, `episodes_needed` how
    many would show an equal model to be within the tolerance. `gates` holds McNemar's test of each gate and, as `all`,
    of their conjunction; their p-values are as tested, after Holm's correction over the single gates.
    """

    split: str
    episodes: int
    samples: tuple[int, int]
    reward: Interval
    detectable: float
    episodes_needed: int
    gates: Mapping[str, McNemar]
    families: Mapping[str, FamilyChange]

    def to_dict(self) -> dict[str, Any]:
        return {
            "split": self.split,
            "episodes": self.episodes,
            "samples": {"incumbent": self.samples[0], "candidate": self.samples[1]},
            "reward": self.reward.to_dict(),
            "detectable": self.detectable,
            "episodes_needed": self.episodes_needed,
            "gates": {
                name: {"better": test.better, "worse": test.worse, "p": test.p} for name, test in self.gates.items()
            },
            "families": {name: {**f.change.to_dict(), "p": f.p} for name, f in self.families.items()},
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """A stored decision. `settings` are the tolerances it was made under, `audit_digest` the audit that was read."""

    decision: Decision
    reasons: Sequence[str]
    environment: str
    reward_digest: str
    incumbent: Side
    candidate: Side
    settings: Mapping[str, Any]
    anchors: Sequence[AnchorResult]
    audit_digest: str | None
    training_alarms: Sequence[str]

    @property
    def exit_code(self) -> int:
        """0 PROMOTE, 2 BLOCK, 3 UNDECIDED."""
        return EXIT_CODES[self.decision]

    @property
    def digest(self) -> str:
        """SHA-256 over the whole document, the digests of what it read included."""
        return content_hash(self._body())

    def to_dict(self) -> dict[str, Any]:
        return self._body() | {"digest": self.digest}

    def _body(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "reasons": list(self.reasons),
            "environment": self.environment,
            "reward_digest": self.reward_digest,
            "incumbent": self.incumbent.to_dict(),
            "candidate": self.candidate.to_dict(),
            "settings": dict(self.settings),
            "anchors": [anchor.to_dict() for anchor in self.anchors],
            "audit_digest": self.audit_digest,
            "training_alarms": list(self.training_alarms),
        }

    def to_table(self) -> Table:
        """The numbers for a terminal: one line a test, on each anchor."""
        from rich.table import Table

        table = Table(
            title=f"{self.candidate.policy} against {self.incumbent.policy}",
            title_justify="left",
            caption="\n".join(
                f"{anchor.split}: {anchor.episodes} episodes show a change of {anchor.detectable:.3f} with 80% power"
                for anchor in self.anchors
            ),
        )
        for column in ("anchor", "test", "candidate - incumbent", "must hold"):
            table.add_column(column)
        tolerance, family_tolerance = self.settings["tolerance"], self.settings["family_tolerance"]
        for anchor in self.anchors:
            table.add_row(anchor.split, "reward", _interval(anchor.reward), f"low end above {-tolerance:g}")
            for name, test in anchor.gates.items():
                change = f"{test.better} better, {test.worse} worse, p {test.p:.3f}"
                table.add_row("", f"gate {name}", change, "not significantly worse")
            for name, family in anchor.families.items():
                change = f"{_interval(family.change)}, p {family.p:.3f}"
                table.add_row("", f"family {name}", change, f"not worse than {-family_tolerance:g}")
        return table


def write_verdict(path: Path, verdict: Verdict) -> None:
    """Write a verdict as JSON; InfrastructureError where the disk refuses."""
    replace_text(path, json.dumps(verdict.to_dict(), indent=2) + "\n")


def _interval(interval: Interval) -> str:
    return f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"
