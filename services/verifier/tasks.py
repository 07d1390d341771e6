"""What a worker is asked to do, in JSON values: judge completions, fix one, scan files, or say what would decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Task", "describe", "fix", "modules", "scan", "score"]


@dataclass(frozen=True, slots=True)
class Task:
    """`bundle`, where the ruleset needs one, travels to each worker once."""

    name: str
    options: dict[str, Any]
    bundle: tuple[str, str] | None = None
    """Digest and JSON of a verified RuleBundle."""


def score(environment: str, ruleset: str, profile: str, bundle: tuple[str, str] | None = None) -> Task:
    """Payloads are ScoreItems; a judged one is a Scorecard."""
    return Task("score", {"environment": environment, "ruleset": ruleset, "profile": profile}, bundle)


def fix(environment: str, ruleset: str, profile: str, bundle: tuple[str, str] | None = None) -> Task:
    """One payload, a FixRequest; judged: a FixResponse."""
    return Task("fix", {"environment": environment, "ruleset": ruleset, "profile": profile}, bundle)


def describe(environment: str, ruleset: str, profile: str, bundle: tuple[str, str] | None = None) -> Task:
    """One empty payload; judged: `{"digest", "profile"}`, the reward's digest and the full name of the profile."""
    return Task("describe", {"environment": environment, "ruleset": ruleset, "profile": profile}, bundle)


def modules() -> Task:
    """One payload, a ScanRequest; judged: for each root module its `files`, name to path, and its `variables`."""
    return Task("modules", {})


def scan(engines: list[list[dict[str, Any]]], bundle: tuple[str, str] | None = None) -> Task:
    """One payload, a ScanRequest; judged: a ScanResponse or SARIF, with what other engines said of each root module."""
    return Task("scan", {"engines": engines}, bundle)
