"""What a judge says of one piece of work: findings with line and fix, and the scorecard that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from rl_gym.gym.core import Environment, Episode, RewardBreakdown, environment_faults, judge
from rl_gym.infra.errors import TooLargeError
from rl_gym.wire.message import Line, Name, Reply

if TYPE_CHECKING:
    from rl_gym.iac import report as iac

__all__ = ["MAX_FINDINGS", "Finding", "Scorecard", "Severity", "Verdict"]

MAX_FINDINGS = 10_000
MAX_PROBLEMS = 200

Severity = Literal["critical", "high", "medium", "low"]
Verdict = Literal["pass", "fail", "unknown", "na"]


class Finding(Reply):
    """One rule's answer about one resource."""

    rule: Name
    address: str = Field(max_length=1_000, description="Of the resource, as Terraform writes it")
    verdict: Verdict
    severity: Severity | None = Field(description="Null where an outside engine gives none")
    filename: str = Field(default="", max_length=1_000)
    line: int = Field(ge=1, description="Counted from 1")
    reason: Line = Field(description="Why the rule answers so")
    fix: Line = Field(default="", description="What to write instead")

    @classmethod
    def of(cls, found: iac.Finding) -> Finding:
        """A rule's finding; what a hostile text made too long for a message is cut."""
        return cls(
            rule=found.rule,
            address=found.address[:1_000],
            verdict=found.verdict,
            severity=found.severity,
            filename=found.filename[:1_000],
            line=max(1, found.line),
            reason=found.reason[:2_000],
            fix=found.fix[:2_000],
        )


class Scorecard(Reply):
    """The judgement of one completion: the reward, what made it, and what a repair can act on."""

    breakdown: RewardBreakdown = Field(description="Reward, raw components, gates, valid, action, digest")
    checks: dict[str, Verdict] = Field(default_factory=dict, description="The verdict of each named check")
    findings: list[Finding] = Field(default_factory=list, description="What did not pass, worst first")
    problems: list[Line] = Field(
        default_factory=list, description="What a second attempt should mend, worst first; the first 200"
    )

    @classmethod
    def of(cls, env: Environment, episode: Episode, completion: str) -> Scorecard:
        """Judge a completion. Raises InfrastructureError where the environment itself fails, TooLargeError for more
        than MAX_FINDINGS findings.
        """
        action, breakdown = judge(env, completion, episode)
        optional: Any = env
        checks: Mapping[str, Any] = {}
        findings: list[Finding] = []
        problems: list[str] = []
        with environment_faults(env, episode):
            if action is not None and hasattr(env, "checks"):
                checks = optional.checks(action, episode)
            if action is not None and hasattr(env, "findings"):
                findings = [Finding.of(found) for found in optional.findings(action, episode)]
            if hasattr(env, "problems"):
                problems = [problem[:2_000] for problem in optional.problems(action, episode)[:MAX_PROBLEMS]]
        if len(findings) > MAX_FINDINGS:
            raise TooLargeError(f"{len(findings)} findings; at most {MAX_FINDINGS} are answered: send less at a time")
        return cls(breakdown=breakdown, checks=dict(checks), findings=findings, problems=problems)
