"""Planned values of a resource: what its configuration sets and is known, and what is known only after apply."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.hcl.documents import ABSENT
from rl_gym.iac.intent.typed_values import META, body_of, typed_values
from rl_gym.iac.schema.packing import NOTHING

__all__ = ["DEFAULTS", "Planned", "asks_unknown", "planned", "without_unknown"]

DEFAULTS = "aws_defaults.json"
"""What the provider fills in, by type and block: see `rl_gym.iac.intent.defaults`."""

_FROM_CONFIGURATION = frozenset({"json", "minified_json"})
_VERSION_FIRST = frozenset({"aws_iam_role_policy", "aws_iam_user_policy", "aws_iam_group_policy"})
_DIGESTED = frozenset({"aws_instance", "aws_launch_configuration", "aws_spot_instance_request"})
"""Types of whose `user_data` a plan shows the SHA-1."""

_POLICIES = frozenset({"assume_role_policy", "policy", "policy_document", "access_policy"})


@dataclass(frozen=True, slots=True)
class Planned:
    """`known` holds the values without what is unknown, `unknown` is true in its place, in nested values too."""

    known: dict[str, Any]
    unknown: dict[str, Any]


def planned(resource: Resource, *, filled: bool = True) -> Planned:
    """The values that are known before apply, in the types of the provider's schema, and the places of the others.

    With `filled`, what the provider is known to fill in is there too.
    """
    body = body_of(resource.mode, resource.type) or NOTHING
    values = typed_values(resource, body, META, keep_sets=resource.mode == "data")
    if filled and resource.mode == "managed":
        _fill(resource.type, values)
    for name in _POLICIES & values.keys():
        values[name] = _normal(resource.type, values[name])
    if resource.type in _DIGESTED and isinstance(values.get("user_data"), str):
        values["user_data"] = hashlib.sha1(
            values["user_data"].encode(errors="replace"), usedforsecurity=False
        ).hexdigest()
    known = {name: shown for name, value in values.items() if (shown := without_unknown(value)) is not ABSENT}
    unknown = {name: places for name, value in values.items() if (places := _unknown(value))}
    computed = {name: True for name, one in body.attributes.items() if not one.settable and name not in values}
    return Planned(known, {**computed, "id": True, **unknown})


def asks_unknown(resource: Resource) -> bool:
    """Whether anything that a data source is asked with is unknown, so that it is read at apply."""
    arguments = {name: value for name, value in resource.attributes().items() if name not in _FROM_CONFIGURATION}
    return bool(_unknown(arguments))


def without_unknown(value: Any) -> Any:
    """A value as a plan shows it: an unknown entry of a map is absent, one of a list is null; ABSENT for unknown."""
    if value is UNKNOWN:
        return ABSENT
    if isinstance(value, list):
        shown = (without_unknown(item) for item in value)
        return [None if item is ABSENT else item for item in shown]
    if isinstance(value, Mapping):
        items = ((key, without_unknown(item)) for key, item in value.items())
        return {key: item for key, item in items if item is not ABSENT}
    return value


def _unknown(value: Any) -> Any:
    """True for an unknown value, else the places of the unknown parts, False where there are none."""
    if value is UNKNOWN:
        return True
    if isinstance(value, list):
        places = [_unknown(item) for item in value]
        return places if any(places) else False
    if isinstance(value, Mapping):
        return {key: found for key, item in value.items() if (found := _unknown(item))} or False
    return False


def _fill(place: str, values: dict[str, Any]) -> None:
    """Add the defaults of a block, and of the blocks in it."""
    for name, value in values.items():
        for inner in value if isinstance(value, list) else ():
            if isinstance(inner, dict):
                _fill(f"{place}.{name}", inner)
    for name, default in _defaults().get(place, {}).items():
        values.setdefault(name, default)


@cache
def _defaults() -> dict[str, dict[str, Any]]:
    text = (resources.files("rl_gym.iac") / "data" / DEFAULTS).read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


def _normal(kind: str, value: Any) -> Any:
    """A policy as the provider rewrites it: without spaces, keys in order."""
    try:
        document = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return value
    if not isinstance(document, dict) or "Statement" not in document:
        return value
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if kind not in _VERSION_FIRST or "Version" not in document:
        return text
    first = json.dumps({"Version": document.pop("Version")}, separators=(",", ":"))
    rest = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{first[:-1]},{rest[1:]}"
