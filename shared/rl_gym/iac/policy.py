"""What an IAM policy document grants: statements in one shape, and how far their wildcards reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

from rl_gym.hcl import UNKNOWN, Partial, Reference
from rl_gym.iac.actions import changes
from rl_gym.iac.verdicts import Truth, some, text

ARN_PARTS = 6
"""Of `arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE`, the last of which may hold colons itself."""

_WILD = frozenset("*?")
_MOST = 0.75
"""The share of a service's changing actions from which partial wildcards are taken as the whole service."""


class Principal(NamedTuple):
    """One principal: `kind` is `AWS`, `Service`, ..., and `*` where none is written; `name` is text or UNKNOWN."""

    kind: str
    name: Any


class Condition(NamedTuple):
    """One test of a condition: operator and key in lower case, and the values that satisfy it (text or UNKNOWN)."""

    operator: str
    key: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement. Tuples hold strings, UNKNOWN where an entry is not known.

    `actions` and `resources` are those named, `not_` the flags for NotAction, NotResource and NotPrincipal; a resource
    of which parts are not known is a `Partial`. `principals` is None in an identity policy, else those of every kind:
    everyone where only those are named who are left out. All of `conditions` must hold; it is None where they are not
    known. `certain` is false where the effect itself is not known.
    """

    actions: tuple[Any, ...]
    not_action: bool
    resources: tuple[Any, ...]
    not_resource: bool
    principals: tuple[Principal, ...] | None
    not_principal: bool
    conditions: tuple[Condition, ...] | None
    certain: bool

    @property
    def delegates(self) -> bool:
        """Every principal is the root of an account: it hands the decision to that account's own IAM policies."""
        return bool(self.principals) and all(is_account_root(one.name) for one in self.principals or ())


def statements(document: Any) -> list[Statement] | None:
    """The statements of a decoded document that allow something; None where the statements are not known."""
    return _of_effect(document, lambda effect: effect != "deny")


def denials(document: Any) -> list[Statement] | None:
    """The statements of a decoded document that deny something; None where the statements are not known."""
    return _of_effect(document, lambda effect: effect in ("deny", UNKNOWN))


def _of_effect(document: Any, wanted: Callable[[Any], bool]) -> list[Statement] | None:
    if not isinstance(document, Mapping):
        return None
    listed = _lower(document).get("statement", [])
    if isinstance(listed, Mapping):
        listed = [listed]
    if not isinstance(listed, list):
        return None
    found = []
    for entry in listed:
        if not isinstance(entry, Mapping):
            return None
        lowered = _lower(entry)
        effect = lowered.get("effect", "Allow")
        if wanted(effect.strip().lower() if isinstance(effect, str) else effect):
            found.append(_statement(lowered))
    return found


def _lower(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key).lower(): value for key, value in mapping.items()}


def _statement(entry: Mapping[str, Any]) -> Statement:
    return Statement(
        actions=tuple(map(_whole, _strings(entry.get("notaction", entry.get("action"))))),
        not_action="notaction" in entry,
        resources=_strings(entry.get("notresource", entry.get("resource"))),
        not_resource="notresource" in entry,
        principals=_principals(entry),
        not_principal="notprincipal" in entry,
        conditions=_conditions(entry.get("condition")),
        certain=entry.get("effect") is not UNKNOWN,
    )


def _strings(value: Any) -> tuple[Any, ...]:
    return tuple(
        item if isinstance(item, Partial) else item.strip() if isinstance(item, str) else UNKNOWN
        for item in _listed(value)
    )


def _whole(item: Any) -> Any:
    return UNKNOWN if isinstance(item, Partial) else item


def _principals(entry: Mapping[str, Any]) -> tuple[Principal, ...] | None:
    if "notprincipal" in entry:
        return (Principal("*", "*"),)
    if "principal" not in entry:
        return None
    value = entry["principal"]
    kinds = value if isinstance(value, Mapping) else {"*": value}
    return tuple(Principal(str(kind), name) for kind, names in kinds.items() for name in _listed(names))


def _conditions(value: Any) -> tuple[Condition, ...] | None:
    if value is None:
        return ()
    if not isinstance(value, Mapping) or not all(isinstance(tests, Mapping) for tests in value.values()):
        return None
    return tuple(
        Condition(str(operator).strip().lower(), str(key).strip().lower(), tuple(map(_spelled, _listed(values))))
        for operator, tests in value.items()
        for key, values in tests.items()
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _spelled(value: Any) -> Any:
    """A value of a condition as text, the way AWS compares it."""
    if isinstance(value, Partial):
        return value
    said = text(value)
    return UNKNOWN if said is None else said


def is_account_root(principal: Any) -> bool:
    """`123456789012` or `arn:aws:iam::123456789012:root`, also with a part that is not known before apply."""
    if not isinstance(principal, str):
        return False
    if isinstance(principal, Partial) and len(principal.pieces) == 1:
        return isinstance(principal.pieces[0], Reference) and principal.pieces[0].attribute == "account_id"
    if principal.isdigit() and len(principal) == 12:
        return True
    parts = principal.split(":")
    return len(parts) == ARN_PARTS and parts[2] == "iam" and parts[5] == "root" and "*" not in parts[4]


def spans_services(action: str) -> bool:
    """`*`, `*:*`, `*:Get*`: the wildcard stands where the service does."""
    service, colon, _ = action.partition(":")
    return not _WILD.isdisjoint(service) if colon else "*" in action


def whole_service(action: str) -> str | None:
    """The service of which the action pattern grants everything, as `s3:*`, `s3:**` and `s3:?*` do."""
    service, colon, name = action.lower().partition(":")
    return service if colon and "*" in name and _WILD.issuperset(name) and _WILD.isdisjoint(service) else None


def whole_services(actions: Iterable[Any]) -> tuple[str, ...]:
    """Services that a list of action patterns grants as a whole, outright or by patterns that together cover most.

    `s3:Put*`, `s3:Delete*` and `s3:Create*` together are S3 for whoever wants to do harm: the measure is the share of
    the actions that change something.
    """
    return _whole_services(tuple(action for action in actions if isinstance(action, str)))


@lru_cache(maxsize=64)
def _whole_services(actions: tuple[str, ...]) -> tuple[str, ...]:
    outright: dict[str, None] = {}
    partial: dict[str, list[str]] = {}
    for action in actions:
        if not spans_services(action):
            service = whole_service(action)
            if service:
                outright[service] = None
            elif "*" in action:
                partial.setdefault(action.lower().partition(":")[0], []).append(action)
    covered = [service for service, patterns in partial.items() if changes(service, patterns) >= _MOST]
    return (*outright, *(service for service in covered if service not in outright))


def everything(resource: Any) -> bool:
    """Whether a resource pattern names all of a service, in any region and account: `*`, `arn:aws:s3:::*`."""
    if not isinstance(resource, str):
        return False
    if "*" not in resource:
        return False
    parts = resource.split(":", ARN_PARTS - 1)
    if len(parts) < 3 or parts[0] != "arn":
        return set(resource) <= _WILD or resource.startswith("arn:*")
    if not _WILD.isdisjoint(parts[2]):
        return True
    return all(set(part) <= _WILD | {"/"} for part in parts[3:])


def reach(statement: Statement) -> Truth:
    """Whether a statement of an identity policy stands on every resource."""
    if statement.not_resource:
        return True
    return some(map(_reaches, statement.resources))


def _reaches(resource: Any) -> Truth:
    """Whether a resource is every resource; attributes of resources name single things, other unknowns may be `*`."""
    if resource is UNKNOWN:
        return None
    if not isinstance(resource, Partial):
        return everything(resource)
    return None if everything(spelled(resource, "*")) else False


def spelled(value: Partial, unknown: str) -> str:
    """Partly known text, with an ARN where an ARN comes, a name where a name does, and `unknown` for anything else."""
    return "".join(map(partial(_piece, unknown=unknown), value.pieces))


def _piece(piece: str | Reference | None, unknown: str) -> str:
    if isinstance(piece, Reference):
        return "arn:x:x:x:x:x" if piece.attribute.endswith("arn") else "x"
    return unknown if piece is None else piece
