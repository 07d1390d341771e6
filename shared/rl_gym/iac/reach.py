"""Which passes count: those on the resources that were asked for and on what belongs to them.

Otherwise a configuration could bury a failure under resources that nobody asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from rl_gym.hcl import Resource
from rl_gym.hcl.configuration import base_of
from rl_gym.iac.belongings import belongings, mentions, taken
from rl_gym.iac.context import Context, type_of
from rl_gym.iac.equivalents import stand_ins
from rl_gym.iac.grants import MORE_POLICIES, POLICIES
from rl_gym.iac.report import Finding
from rl_gym.iac.rules.registry import Ruleset

_CARRIERS = frozenset(kind for kind in (*POLICIES, *MORE_POLICIES) if not kind.endswith(("_policy", "_vault_lock")))
"""Types that may carry a policy, and are whole without one."""

_TRUST = ("aws_iam_role", "iam_wildcard_principal")
"""No role is without a policy that says who may take it."""


class Counted(NamedTuple):
    """Positions of the passes that count in `security`, strictly, and as the first version of the profile counted."""

    strictly: frozenset[int]
    leniently: frozenset[int]


def counted(results: Sequence[Finding], ruleset: Ruleset, required: Sequence[str], context: Context) -> Counted:
    """Which passes count: those on what was requested, and on its companions one for each rule.

    Strictly, a resource that is added alone never raises the share, unless it mends a finding:

    - What was requested is no more than was asked for: of three buckets where one was, the one that earns least.
    - A companion adds nothing to a rule that judged a requested resource: a second bucket, perfect and referred to,
      does not make up for the first.
    - What attaches itself (a policy of a bucket, a rule of a group) earns nothing by itself; what a requested resource
      or its attachments refer to does, where that is a thing of the kind that the argument takes. A key that is named
      in a start-up script belongs to nobody.
    - A policy that a resource carries at will earns nothing either, unless a policy was asked for: that it grants
      nothing wrong is no merit of what would be as safe without it. Nor does one that states nothing, asked for or not.

    Leniently, every resource of a requested type counts, and every companion. With nothing requested every resource is.
    """
    passes = [position for position, result in enumerate(results) if result.verdict == "pass"]
    if not required:
        return Counted(frozenset(passes), frozenset(passes))
    wanted = {name for kind in required for name in stand_ins(kind)}
    requested = {one.address: one for one in context.all() if one.type in wanted}
    judged = {result.rule for result in results if result.address in requested}
    of_policies = {rule.id for rule in ruleset.rules if rule.of_policies}
    silent = {one.address for one in context.all() if _states_nothing(one)}
    merits = [
        position
        for position in passes
        if results[position].rule not in of_policies or _has_merit(results[position], required, silent)
    ]
    kept = _asked_for(requested, required, _earned(merits, results, ruleset))
    return Counted(
        _passes_on(kept, belongings(kept, context, taken).referred, judged, merits, results),
        _passes_on(requested, belongings(requested, context, mentions).all, set(), passes, results),
    )


def _has_merit(result: Finding, required: Sequence[str], silent: Collection[str]) -> bool:
    """Whether a pass is for a policy that says something, and that its resource needs or was asked to carry."""
    kind = type_of(result.address)
    if result.address in silent:
        return False
    if kind not in _CARRIERS or (kind, result.rule) == _TRUST:
        return True
    return any(other.endswith("_policy") and kind in stand_ins(other) for other in required)


def _states_nothing(resource: Resource) -> bool:
    """Whether a resource has policies, of which none has a statement: AWS takes none like that."""
    paths = (*POLICIES.get(resource.type, ()), *MORE_POLICIES.get(resource.type, ()))
    documents = [found for path in paths if isinstance(found := resource.policy(path), dict)]
    return bool(documents) and all(one.get("Statement") in (None, "", [], {}) for one in documents)


def _earned(passes: Iterable[int], results: Sequence[Finding], ruleset: Ruleset) -> Mapping[str, float]:
    """The weight of the passes on each resource."""
    weights = {rule.id: rule.weight for rule in ruleset.rules}
    earned: dict[str, float] = {}
    for position in passes:
        result = results[position]
        earned[result.address] = earned.get(result.address, 0.0) + weights[result.rule]
    return earned


def _asked_for(
    requested: Mapping[str, Resource], required: Sequence[str], earned: Mapping[str, float]
) -> dict[str, Resource]:
    """As many resources of each type as the request lists: those that earn least."""
    kept: dict[str, Resource] = {}
    for kind, times in Counter(required).items():
        names = stand_ins(kind)
        candidates = [one for one in requested.values() if one.type in names and one.created is True]
        for one in sorted(candidates, key=lambda one: earned.get(one.address, 0.0))[:times]:
            kept[one.address] = one
    return kept


def _passes_on(
    requested: Collection[str],
    companions: Collection[str],
    judged: Collection[str],
    passes: Iterable[int],
    results: Sequence[Finding],
) -> frozenset[int]:
    """The passes on these addresses, and one on companions (base addresses) for each rule that is not in `judged`."""
    found: set[int] = set()
    rules = set(judged)
    for position in passes:
        address, rule = results[position].address, results[position].rule
        if address in requested:
            found.add(position)
        elif rule not in rules and base_of(address) in companions:
            found.add(position)
            rules.add(rule)
    return frozenset(found)
