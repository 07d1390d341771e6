"""What a scan found: a verdict for each rule and resource, and the numbers that are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rl_gym.hcl import Configuration, HclError
from rl_gym.iac.rules.registry import Ruleset
from rl_gym.iac.verdicts import Severity, Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's verdict about one resource, with the line that decided."""

    rule: str
    address: str
    verdict: Verdict
    severity: Severity
    filename: str
    line: int
    reason: str
    fix: str

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class ScanError:
    """Why a configuration could not be read."""

    message: str
    filename: str
    line: int
    column: int

    @classmethod
    def of(cls, error: HclError) -> ScanError:
        return cls(error.message, error.filename, error.line, error.column)

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}:{self.column}: {self.message}"


@dataclass(frozen=True)
class ScanReport:
    """The outcome of one scan.

    `results` holds every (rule, resource) verdict. `counted` says which of the passes count in `security`. An
    unreadable configuration has `errors` and no results: every verdict about it is unknown.
    """

    ruleset: Ruleset
    results: Sequence[Finding] = ()
    gates: Mapping[str, bool] = field(default_factory=dict)
    errors: Sequence[ScanError] = ()
    configuration: Configuration | None = None
    rewarded: frozenset[int] = frozenset()
    """Positions in `results` of the passes that count in `security`."""

    @property
    def valid(self) -> bool:
        """Whether the configuration could be read and evaluated."""
        return not self.errors

    @cached_property
    def findings(self) -> list[Finding]:
        """What is wrong (`fail`) or cannot be told (`unknown`), most severe first."""
        order = [rule.id for rule in self.ruleset.rules]
        bad = [finding for finding in self.results if finding.verdict != "pass"]
        return sorted(bad, key=lambda f: (order.index(f.rule), f.verdict != "fail", f.filename, f.line))

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Each rule of the ruleset: fail if any resource fails, else unknown if any is, else pass; na of nothing."""
        if not self.valid:
            return {rule.id: "unknown" for rule in self.ruleset.rules}
        found: dict[str, set[str]] = {}
        for result in self.results:
            found.setdefault(result.rule, set()).add(result.verdict)
        return {rule.id: _overall(found.get(rule.id, set())) for rule in self.ruleset.rules}

    def verdict(self, rule_id: str) -> Verdict:
        """The verdict of a rule; raises KeyError for one outside the ruleset."""
        try:
            return self.verdicts[rule_id]
        except KeyError:
            raise KeyError(f"rule {rule_id!r} is not in the ruleset {self.ruleset.name!r}") from None

    @cached_property
    def pass_rate(self) -> float:
        """Rules that pass / rules that apply; 0 where none applies, since then nothing was shown."""
        applicable = [verdict for verdict in self.verdicts.values() if verdict != "na"]
        return applicable.count("pass") / len(applicable) if applicable else 0.0

    @cached_property
    def security(self) -> float | None:
        """Severity-weighted share of (rule, resource) verdicts that pass: the component of the reward.

        Failures and unknowns count wherever they are; passes on requested resources and their companions. None where
        nothing counts.
        """
        if not self.valid:
            return 0.0
        weights = {rule.id: rule.weight for rule in self.ruleset.rules}
        earned = sum(weights[self.results[position].rule] for position in self.rewarded)
        lost = sum(weights[result.rule] for result in self.results if result.verdict != "pass")
        return earned / (earned + lost) if earned + lost else None

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "valid": self.valid,
            "ruleset": {"name": self.ruleset.name, "digest": self.ruleset.digest},
            "errors": [
                {"message": e.message, "filename": e.filename, "line": e.line, "column": e.column} for e in self.errors
            ],
            "verdicts": dict(self.verdicts),
            "findings": [finding.to_dict() for finding in self.findings],
            "gates": dict(self.gates),
            "pass_rate": self.pass_rate,
            "security": self.security,
        }


def _overall(found: set[str]) -> Verdict:
    for verdict in ("fail", "unknown", "pass"):
        if verdict in found:
            return verdict
    return "na"
