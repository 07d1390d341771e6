"""Rules and rulesets: a rule is one function with a decorator; a ruleset is a named, digested choice of them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial, update_wrapper
from itertools import groupby
from typing import Protocol

from rl_gym.gym.core import content_hash
from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS, Answer, Severity
from rl_gym.infra.errors import NotFoundError

Check = Callable[[Resource, Context], Answer | None]

SEMANTICS = 1
"""Version of what rules share (policy and network semantics, companions, reach): part of every ruleset's digest."""

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

RULESETS = ("seed18", "base", "base+drift", "base-train", "base-heldout")
"""`seed18`: the set behind published numbers, its rules as they were then; `base`: every rule but the drift set;
`base+drift`: every rule;
`base-train` and `base-heldout`: the two halves of `base`, for the audit."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A security rule.

    `types` are the resource types that it is asked about: a data source's is `data.TYPE`, `*` is all.

    `check(resource, context)` answers for one created (or maybe created) resource, None where the rule does not apply.
    `fix` tells what to write, `short` the same in the fewest words, where that is much shorter: the rulebook tells it
    to models. `version` rises whenever the meaning of `check` changes. `passing` and `failing` are the shortest
    configurations that show the difference. `first` is the check as it was in version 1, where it has changed since:
    rulesets that stand behind published numbers keep to it. `of_policies` says that it judges what a policy grants, and
    says nothing where there is none (see `reach`).
    """

    id: str
    severity: Severity
    types: tuple[str, ...]
    title: str
    fix: str
    references: tuple[str, ...]
    version: int
    check: Check = field(repr=False)
    passing: str = field(default="", repr=False)
    failing: str = field(default="", repr=False)
    first: Check | None = field(default=None, repr=False)
    of_policies: bool = False
    short: str = ""

    @property
    def why(self) -> str:
        """What the rule asks for and why: the docstring of its check."""
        return inspect.getdoc(self.check) or ""

    @property
    def family(self) -> str:
        """The kind of safety that it is about: what stands before the first `_` of its id."""
        return self.id.partition("_")[0]

    @property
    def weight(self) -> float:
        return SEVERITY_WEIGHTS[self.severity]


_RULES: dict[str, Rule] = {}
_collecting: list[dict[str, Rule]] = [_RULES]


def rule(
    id: str,  # noqa: A002
    *,
    severity: Severity,
    types: Iterable[str],
    title: str,
    fix: str,
    short: str = "",
    references: Iterable[str] = (),
    version: int = 1,
    passing: str = "",
    failing: str = "",
    first: Check | None = None,
    of_policies: bool = False,
) -> Callable[[Check], Check]:
    """Register the decorated function as the check of a rule; its docstring says what it asks for and why."""

    def register(check: Check) -> Check:
        rules = _collecting[-1]
        if id in rules:
            raise ValueError(f"rule {id!r} is defined twice")
        examples = inspect.cleandoc(passing), inspect.cleandoc(failing)
        texts = title, fix, tuple(references)
        rules[id] = Rule(id, severity, tuple(types), *texts, version, check, *examples, first, of_policies, short)
        return check

    return register


@contextmanager
def collecting() -> Iterator[dict[str, Rule]]:
    """Rules that are defined meanwhile come here, by id, and not among those of rl-gym: for rules from elsewhere."""
    all_rules()
    found: dict[str, Rule] = {}
    _collecting.append(found)
    try:
        yield found
    finally:
        _collecting.pop()


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
    package = importlib.import_module("rl_gym.iac.rules")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"rl_gym.iac.rules.{module.name}")
    order = list(SEVERITY_WEIGHTS)
    rules = sorted(_RULES.values(), key=lambda one: (order.index(one.severity), one.id in DRIFT, one.id))
    return {one.id: one for one in rules}


class RulesetSource(Protocol):
    """Where rulesets beyond the built-in ones come from: whoever may use generated rules hands one in."""

    def ruleset(self, name: str) -> Ruleset:
        """The ruleset of this name; raises NotFoundError where it has none."""
        ...


def get_ruleset(name: str, source: RulesetSource | None = None) -> Ruleset:
    """The ruleset of this name, built-in or from `source`; raises NotFoundError, listing the built-in names."""
    return source.ruleset(name) if source is not None and name not in RULESETS else _built_in(name)


@cache
def _built_in(name: str) -> Ruleset:
    rules = all_rules()
    base = [one for one in rules.values() if one.id not in DRIFT]
    match name:
        case "seed18":
            return make_ruleset(name, (_as_first(rules[name]) for name in SEED18))
        case "base":
            return make_ruleset(name, base)
        case "base+drift":
            return make_ruleset(name, rules.values())
        case "base-train" | "base-heldout":
            return make_ruleset(name, _half(base, 0 if name == "base-train" else 1))
    raise NotFoundError(f"there is no ruleset {name!r}: choose one of {', '.join(RULESETS)}")


def _as_first(one: Rule) -> Rule:
    """A rule as it was in version 1, which asked for the same."""
    if one.first is None:
        return one
    check = update_wrapper(partial(one.first), one.check, assigned=("__doc__",), updated=())
    return replace(one, version=1, check=check, first=None)


def _half(rules: Iterable[Rule], half: int) -> Iterator[Rule]:
    """Every second rule of each family, in the order of ids; families of one rule go to the halves by turns."""
    families = [list(group) for _, group in groupby(sorted(rules, key=lambda one: one.id), key=lambda one: one.family)]
    single = [family[0] for family in families if len(family) == 1]
    for family in [*(family for family in families if len(family) > 1), single]:
        yield from family[half::2]
