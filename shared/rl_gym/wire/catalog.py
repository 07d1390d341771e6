"""The catalogue of a verifier: its rules, and the rulesets that they make up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from rl_gym.wire.finding import Severity
from rl_gym.wire.message import Count, Digest, Name, Reply

if TYPE_CHECKING:
    from rl_gym.iac.rules import Rule, Ruleset

__all__ = ["RuleBody", "RulesResponse", "RulesetBody", "RulesetsResponse"]


class RuleBody(Reply):
    """A rule, as a person wants to know it."""

    id: Name
    severity: Severity
    weight: float = Field(gt=0, description="What it weighs in the component `security`")
    title: str
    why: str = Field(description="What it asks for and why")
    fix: str = Field(description="What to write instead")
    resource_types: list[str] = Field(description="What it is asked about: a data source is data.TYPE, * is all")
    references: list[str]
    version: Count = Field(description="Rises whenever its meaning changes")
    passing: str = Field(default="", description="A short configuration that passes")
    failing: str = Field(default="", description="A short configuration that fails")

    @classmethod
    def of(cls, rule: Rule) -> RuleBody:
        same = {name: getattr(rule, name) for name in cls.model_fields if name != "resource_types"}
        return cls.model_validate({**same, "resource_types": list(rule.types), "references": list(rule.references)})


class RulesetBody(Reply):
    """A ruleset by its name, and what it amounts to."""

    name: Name
    digest: Digest
    rules: Count = Field(description="How many")

    @classmethod
    def of(cls, ruleset: Ruleset) -> RulesetBody:
        return cls(name=ruleset.name, digest=ruleset.digest, rules=len(ruleset.rules))


class RulesetsResponse(Reply):
    """The built-in rulesets. One of generated rules is asked for by the digest of its bundle."""

    rulesets: list[RulesetBody]


class RulesResponse(Reply):
    """The rules of one ruleset, most severe first."""

    ruleset: RulesetBody
    rules: list[RuleBody]

    @classmethod
    def of(cls, ruleset: Ruleset) -> RulesResponse:
        return cls(ruleset=RulesetBody.of(ruleset), rules=[RuleBody.of(rule) for rule in ruleset.rules])
