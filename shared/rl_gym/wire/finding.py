"""What a judge says of one piece of work: findings with line and fix, and the scorecard that holds them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rl_gym.gym.core import RewardBreakdown
from rl_gym.wire.message import Line, Name, Reply

__all__ = ["Finding", "Scorecard", "Severity", "Verdict"]

Severity = Literal["critical", "high", "medium", "low"]
Verdict = Literal["pass", "fail", "unknown", "na"]


class Finding(Reply):
    """One rule's answer about one resource."""

    rule: Name
    address: str = Field(max_length=1_000, description="Of the resource, as Terraform writes it")
    verdict: Verdict
    severity: Severity
    filename: str = Field(default="", max_length=1_000)
    line: int = Field(ge=1, description="Counted from 1")
    reason: Line = Field(description="Why the rule answers so")
    fix: Line = Field(default="", description="What to write instead")


class Scorecard(Reply):
    """The judgement of one completion: the reward, what made it, and the findings that a repair can act on."""

    breakdown: RewardBreakdown = Field(description="Reward, raw components, gates, valid, action, digest")
    checks: dict[str, Verdict] = Field(default_factory=dict, description="The verdict of each named check")
    findings: list[Finding] = Field(default_factory=list, description="What did not pass, worst first")
