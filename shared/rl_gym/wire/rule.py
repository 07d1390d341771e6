"""Generated rules: what is asked for, what was drafted, what the gates said, who approved, and what is published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from rl_gym.gym.core import content_hash
from rl_gym.wire.finding import Severity
from rl_gym.wire.message import Count, Digest, Line, Message, Name, Reply, ResourceType, Signature

__all__ = [
    "BUNDLE_RULESET",
    "BundledRule",
    "RuleBundle",
    "RuleDraft",
    "RuleGate",
    "RuleGateResult",
    "RuleReview",
    "RuleSpec",
]

RuleId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
Example = Annotated[str, StringConstraints(min_length=1, max_length=65_536)]
Examples = Annotated[list[Example], Field(min_length=2, max_length=64)]
Source = Annotated[str, StringConstraints(min_length=1, max_length=8_192)]

RuleGate = Literal[
    "shape",
    "examples",
    "metamorphic",
    "mutation",
    "corpus",
    "duplicate",
    "external",
    "satisfiable",
    "people",
    "shadow",
]
"""The gates in the order that a draft passes them."""


class RuleSpec(Message):
    """A rule as a person or a scanner's gap asks for it: in words, and by examples that pass and fail."""

    name: RuleId
    severity: Severity
    resource_types: Annotated[list[ResourceType], Field(min_length=1, max_length=32)]
    intent: Line = Field(description="What must hold, and why")
    hint: Line = Field(description="What to write instead: shown with every finding")
    pass_examples: Examples
    fail_examples: Examples
    maps_to: str | None = Field(default=None, max_length=64, description="The check of an outside scanner")


class RuleDraft(Reply):
    """A predicate for a spec, `def rule(config): ...` in the sandbox's language, named by its content."""

    digest: Digest = Field(description="Of spec and source: what a review names")
    spec: RuleSpec
    source: Source
    drafter: Name = Field(description="The model, or `inductive`")
    author: Name = Field(description="The principal that asked; another one must approve")
    attempt: Count
    created: AwareDatetime


class RuleGateResult(Reply):
    """What one gate said of a draft."""

    gate: RuleGate
    outcome: Literal["pass", "fail", "not_run"]
    score: float | None = Field(default=None, ge=0, le=1, description="Where the gate measures: mutation, agreement")
    detail: Line = ""


class RuleReview(Message):
    """A person's decision about a draft, by its content. A rejected digest cannot come back."""

    draft: Digest
    decision: Literal["approve", "reject"]
    reviewer: Name
    reason: Line = ""
    time: AwareDatetime


class BundledRule(Message):
    """A rule as verifiers run it."""

    name: RuleId
    severity: Severity
    resource_types: Annotated[list[ResourceType], Field(min_length=1, max_length=32)]
    hint: Line
    source: Source
    draft: Digest


BUNDLE_RULESET = "base+bundle:"
"""What stands before the digest of a bundle in the name of its ruleset."""


class RuleBundle(Message):
    """An immutable, signed set of rules: the ruleset `base+bundle:DIGEST`. `digest` covers rules and parent."""

    digest: Digest
    parent: Digest | None = Field(default=None, description="The bundle that this one replaces")
    rules: Annotated[list[BundledRule], Field(min_length=1, max_length=1_000)]
    created: AwareDatetime
    signature: Signature = Field(description="Ed25519 over the digest, in base64")

    @classmethod
    def digest_of(cls, rules: Sequence[BundledRule], parent: str | None) -> str:
        """SHA-256, in hex, over what the digest covers."""
        return content_hash({"rules": [rule.model_dump(mode="json") for rule in rules], "parent": parent})

    @staticmethod
    def key(digest: str) -> str:
        """Where a bundle lies in the object store."""
        return f"bundles/{digest}.json"
