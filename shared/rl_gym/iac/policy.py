"""What an IAM policy document grants: statements in one shape, and how far their wildcards reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rl_gym.hcl import UNKNOWN, Partial, Reference
from rl_gym.iac.actions import changes
from rl_gym.iac.verdicts import Truth, some

_WILD = frozenset("*?")
_MOST = 0.75
"""The share of a service's changing actions from which partial wildcards are taken as the whole service."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement that allows. Tuples hold strings, UNKNOWN where an entry is not known.

    `actions` and `resources` are those named, `not_` the flags for NotAction and NotResource; a resource of which parts
    are not known is a `Partial`. `principals` is None in an identity policy, else the identifiers of every kind.
    `certain` is false where the effect itself is not known.
    """

    actions: tuple[Any, ...]
    not_action: bool
    resources: tuple[Any, ...]
    not_resource: bool
    principals: tuple[Any, ...] | None
    certain: bool

    @property
    def delegates(self) -> bool:
        """Every principal is the root of an account: it hands the decision to that account's own IAM policies."""
        return bool(self.principals) and all(map(is_account_root, self.principals or ()))


def statements(document: Any) -> list[Statement] | None:
    """The statements of a decoded document that allow something; None where the statements are not known."""
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
        statement = _statement(_lower(entry))
        if statement is not None:
            found.append(statement)
    return found


def _lower(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key).lower(): value for key, value in mapping.items()}


def _statement(entry: Mapping[str, Any]) -> Statement | None:
    effect = entry.get("effect", "Allow")
    if isinstance(effect, str) and effect.strip().lower() == "deny":
        return None
    return Statement(
        actions=tuple(map(_whole, _strings(entry.get("notaction", entry.get("action"))))),
        not_action="notaction" in entry,
        resources=_strings(entry.get("notresource", entry.get("resource"))),
        not_resource="notresource" in entry,
        principals=_principals(entry),
        certain=effect is not UNKNOWN,
    )


def _strings(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    return tuple(
        item if isinstance(item, Partial) else item.strip() if isinstance(item, str) else UNKNOWN for item in items
    )


def _whole(item: Any) -> Any:
    return UNKNOWN if isinstance(item, Partial) else item


def _principals(entry: Mapping[str, Any]) -> tuple[Any, ...] | None:
    if "notprincipal" in entry:
        return ("*",)
    if "principal" not in entry:
        return None
    value = entry["principal"]
    parts = list(value.values()) if isinstance(value, Mapping) else [value]
    return tuple(item for part in parts for item in (part if isinstance(part, list) else [part]))


def is_account_root(principal: Any) -> bool:
    """`123456789012` or `arn:aws:iam::123456789012:root`, also with a part that is not known before apply."""
    if not isinstance(principal, str):
        return False
    if isinstance(principal, Partial) and len(principal.pieces) == 1:
        return isinstance(principal.pieces[0], Reference) and principal.pieces[0].attribute == "account_id"
    if principal.isdigit() and len(principal) == 12:
        return True
    parts = principal.split(":")
    return len(parts) == 6 and parts[2] == "iam" and parts[5] == "root" and "*" not in parts[4]


def spans_services(action: str) -> bool:
    """`*`, `*:*`, `*:Get*`: the wildcard stands where the service does."""
    service, colon, _ = action.partition(":")
    return not _WILD.isdisjoint(service) if colon else "*" in action


def whole_service(action: str) -> str | None:
    """The service of which the action pattern grants everything, as `s3:*`, `s3:**` and `s3:?*` do."""
    service, colon, name = action.lower().partition(":")
    return service if colon and "*" in name and _WILD.issuperset(name) and _WILD.isdisjoint(service) else None


def whole_services(actions: Iterable[Any]) -> list[str]:
    """Services that a list of action patterns grants as a whole, outright or by patterns that together cover most.

    `s3:Put*`, `s3:Delete*` and `s3:Create*` together are S3 for whoever wants to do harm: the measure is the share of
    the actions that change something.
    """
    outright: dict[str, None] = {}
    partial: dict[str, list[str]] = {}
    for action in actions:
        if isinstance(action, str) and not spans_services(action):
            service = whole_service(action)
            if service:
                outright[service] = None
            elif "*" in action:
                partial.setdefault(action.lower().partition(":")[0], []).append(action)
    covered = [service for service, patterns in partial.items() if changes(service, patterns) >= _MOST]
    return [*outright, *(service for service in covered if service not in outright)]


def everything(resource: Any) -> bool:
    """Whether a resource pattern names all of a service, in any region and account: `*`, `arn:aws:s3:::*`."""
    if not isinstance(resource, str):
        return False
    if "*" not in resource:
        return False
    parts = resource.split(":", 5)
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
    at_most = "".join(
        "*" if piece is None else "x" if not isinstance(piece, str) else piece for piece in resource.pieces
    )
    return None if everything(at_most) else False
