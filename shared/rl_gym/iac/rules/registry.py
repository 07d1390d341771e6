"""Rules and rulesets: a rule is one function with a decorator; a ruleset is a named, digested choice of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

from rl_gym.gym.core import content_hash
from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS, Answer, Severity
from rl_gym.infra.errors import NotFoundError

Check = Callable[[Resource, Context], Answer | None]

SEMANTICS = 1
"""Version of what rules share (policy and network semantics, companions, reach): part of every ruleset's digest."""

_SERVICES = ("cloudwatch", "dynamodb", "ec2", "iam", "kms", "rds", "s3", "secrets", "tags", "vpc")

SEED18 = (
    "s3_public_acl",
    "sg_world_admin",
    "rds_public",
    "hardcoded_secret",
    "iam_wildcard",
    "iam_svc_wildcard",
    "s3_encryption",
    "rds_encrypted",
    "ebs_encrypted",
    "s3_block_public",
    "ec2_imdsv2",
    "ddb_encryption",
    "s3_versioning",
    "rds_backup",
    "kms_rotation",
    "vpc_flow_logs",
    "cw_retention",
    "tags",
)
DRIFT = ("sg_description", "s3_lifecycle", "rds_multi_az", "ec2_ebs_optimized", "cw_log_kms")

RULESETS = ("seed18", "base", "base+drift")
"""`seed18`: the set behind published numbers; `base`: every rule but the drift set; `base+drift`: every rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A security rule.

    `types` are the resource types that it is asked about: a data source's is `data.TYPE`, `*` is all.

    `check(resource, context)` answers for one created (or maybe created) resource, None where the rule does not apply.
    `fix` tells what to write; `version` rises whenever the meaning of `check` changes.
    """

    id: str
    severity: Severity
    types: tuple[str, ...]
    title: str
    fix: str
    references: tuple[str, ...]
    version: int
    check: Check = field(repr=False)

    @property
    def weight(self) -> float:
        return SEVERITY_WEIGHTS[self.severity]


_RULES: dict[str, Rule] = {}


def rule(
    id: str,  # noqa: A002
    *,
    severity: Severity,
    types: Iterable[str],
    title: str,
    fix: str,
    references: Iterable[str] = (),
    version: int = 1,
) -> Callable[[Check], Check]:
    """Register the decorated function as the check of a rule."""

    def register(check: Check) -> Check:
        if id in _RULES:
            raise ValueError(f"rule {id!r} is defined twice")
        _RULES[id] = Rule(id, severity, tuple(types), title, fix, tuple(references), version, check)
        return check

    return register


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A named choice of rules. `digest` (twelve hex digits) changes when a rule or its meaning does."""

    name: str
    rules: tuple[Rule, ...]
    digest: str
    _by_type: dict[str, tuple[Rule, ...]] = field(repr=False, compare=False)

    def for_type(self, kind: str) -> tuple[Rule, ...]:
        """The rules to ask about a resource type (a data source's is `data.TYPE`)."""
        return self._by_type.get(kind) or self._by_type["*"]

    def __contains__(self, rule_id: object) -> bool:
        return any(rule.id == rule_id for rule in self.rules)


def make_ruleset(name: str, rules: Iterable[Rule]) -> Ruleset:
    """A ruleset of these rules; its digest covers ids, severities, weights and versions."""
    chosen = tuple(rules)
    kinds = {"*", *(kind for one in chosen for kind in one.types)}
    by_type = {kind: tuple(one for one in chosen if kind in one.types or "*" in one.types) for kind in kinds}
    parts = [[one.id, one.severity, one.weight, one.version] for one in chosen]
    return Ruleset(name, chosen, content_hash({"rules": parts, "semantics": SEMANTICS})[:12], by_type)


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by id, most severe first."""
    for service in _SERVICES:
        importlib.import_module(f"rl_gym.iac.rules.{service}")
    order = list(SEVERITY_WEIGHTS)
    rules = sorted(_RULES.values(), key=lambda one: (order.index(one.severity), one.id in DRIFT, one.id))
    return {one.id: one for one in rules}


@cache
def get_ruleset(name: str) -> Ruleset:
    """The ruleset of this name; raises NotFoundError, listing the names that exist."""
    rules = all_rules()
    match name:
        case "seed18":
            return make_ruleset(name, (rules[name] for name in SEED18))
        case "base":
            return make_ruleset(name, (one for one in rules.values() if one.id not in DRIFT))
        case "base+drift":
            return make_ruleset(name, rules.values())
    raise NotFoundError(f"there is no ruleset {name!r}: choose one of {', '.join(RULESETS)}")
