"""What a scan found: a verdict for each rule and resource, and the numbers that are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from rl_gym.hcl import Configuration, HclError
from rl_gym.iac.engines.report import EngineReport
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
    """Why a configuration could not be read; `line` and `column` are 0 where they are not known."""

    message: str
    filename: str
    line: int = 0
    column: int = 0

    @classmethod
    def of(cls, error: HclError) -> ScanError:
        return cls(error.message, error.filename, error.line, error.column)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.filename, self.line, self.column) if part)
        return f"{place}: {self.message}"


ProblemKind = Literal["schema", "duplicate", "reference", "module"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What Terraform would refuse in a configuration that can be read.

    `schema`: the provider knows no such type, argument or block, or misses one; `duplicate`: declared twice;
    `reference`: to something that is declared nowhere; `module`: it calls a local module that is not among the files.
    `hint` is the nearest right name, where there is one.
    """

    kind: ProblemKind
    message: str
    filename: str
    line: int
    column: int
    address: str = ""
    hint: str = ""

    def __str__(self) -> str:
        meant = f" (did you mean {self.hint!r}?)" if self.hint else ""
        return f"{self.filename}:{self.line}:{self.column}: {self.message}{meant}"

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True)
class ScanReport:
    """The outcome of one scan.

    `results` holds every (rule, resource) verdict. `rewarded` says which of the passes count in `security`. An
    unreadable configuration has `errors` and no results: every verdict about it is unknown. Of several modules
    (`repository.united`) some may have results and others errors. `problems` are what Terraform would refuse all the
    same, but for `unread`: the calls to modules that may lie elsewhere, of which nothing was judged. `engines` is what
    other engines said. Neither of these two decides anything here.
    """

    ruleset: Ruleset
    results: Sequence[Finding] = ()
    gates: Mapping[str, bool] = field(default_factory=dict)
    errors: Sequence[ScanError] = ()
    configuration: Configuration | None = None
    rewarded: frozenset[int] = frozenset()
    """Positions in `results` of the passes that count in `security`."""
    rewarded_leniently: frozenset[int] = frozenset()
    """Those that counted in the first version of the profile `default`."""
    problems: Sequence[Problem] = ()
    unread: Sequence[Problem] = ()
    engines: Sequence[EngineReport] = ()

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
        """Each rule of the ruleset: fail if any resource fails, else unknown if any is, else pass; na of nothing.

        What could not be read makes unknown whatever does not fail.
        """
        found: dict[str, set[str]] = {rule.id: set() if self.valid else {"unknown"} for rule in self.ruleset.rules}
        for result in self.results:
            found[result.rule].add(result.verdict)
        return {rule: _overall(verdicts) for rule, verdicts in found.items()}

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

        Failures and unknowns count wherever they are; passes on requested resources and their companions
        (`reach.counted`). None where nothing counts.
        """
        return self._share(self.rewarded)

    @cached_property
    def lenient_security(self) -> float | None:
        """The same with the passes that `default@1` counts."""
        return self._share(self.rewarded_leniently)

    def _share(self, rewarded: frozenset[int]) -> float | None:
        if not self.valid:
            return 0.0
        weights = {rule.id: rule.weight for rule in self.ruleset.rules}
        earned = sum(weights[self.results[position].rule] for position in rewarded)
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
            "problems": [problem.to_dict() for problem in (*self.problems, *self.unread)],
            "verdicts": dict(self.verdicts),
            "findings": [finding.to_dict() for finding in self.findings],
            "gates": dict(self.gates),
            "pass_rate": self.pass_rate,
            "security": self.security,
            "engines": [engine.to_dict() for engine in self.engines],
        }

    def to_sarif(self) -> dict[str, Any]:
        """The report as a SARIF 2.1.0 log; `rl_gym.iac.formats.sarif.sarif_log` makes one of several modules."""
        from rl_gym.iac.formats.sarif import sarif_log
        from rl_gym.iac.triage import judged

        return sarif_log([judged(self)])


def _overall(found: set[str]) -> Verdict:
    for verdict in ("fail", "unknown", "pass"):
        if verdict in found:
            return verdict
    return "na"
