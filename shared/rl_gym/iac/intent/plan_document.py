"""The static plan document: what `terraform show -json PLANFILE` would say of a configuration, without a provider.

What a provider computes is absent from the values and true in `after_unknown`, as in a real plan. What is known only to
a provider, such as its defaults, is absent altogether.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rl_gym.hcl import UNKNOWN, Configuration, Limits, Module, Resource
from rl_gym.hcl.configuration import base_of
from rl_gym.hcl.documents import ABSENT
from rl_gym.hcl.limits import COMPLETION
from rl_gym.iac.intent.plan_configuration import full_name, plan_configuration, provider_of
from rl_gym.iac.intent.planned import Planned, asks_unknown, planned, without_unknown

__all__ = ["plan_document"]

_INSTANCE_KEYS = re.compile(r'\[(?:\d+|"(?:[^"\\]|\\.)*")\]')


def plan_document(
    configuration: Configuration, module: Module, *, only_created: bool = False, limits: Limits = COMPLETION
) -> dict[str, Any]:
    """The document as JSON data: `configuration`, `planned_values`, `resource_changes`, `variables`, `prior_state`.

    A resource of which nobody can say whether it is created is in `configuration` alone. With `only_created`, whatever
    is not surely created is left out there too, as Terraform does not: a decoy with `count = 0` then says nothing.
    """
    resources = [one for one in (*configuration.resources(), *configuration.data()) if one.created is True]
    found = [(one, planned(one)) for one in resources]
    read = [pair for pair in found if pair[0].mode == "data" and not asks_unknown(pair[0])]
    changed = [pair for pair in found if pair[0].mode == "managed" or asks_unknown(pair[0])]
    created = {_INSTANCE_KEYS.sub("", one.base_address) for one in resources} if only_created else None
    return {
        "format_version": "1.2",
        "variables": {
            name: {"value": value} for name, value in configuration.variables.items() if value is not UNKNOWN
        },
        "planned_values": {"root_module": _values(changed), "outputs": _outputs(configuration)},
        "resource_changes": [_change(one, values) for one, values in _sorted(changed)],
        "prior_state": {"values": {"root_module": _values(read)}},
        "configuration": plan_configuration(module, limits, created),
    }


_Found = tuple[Resource, Planned]


def _sorted(found: Iterable[_Found]) -> list[_Found]:
    return sorted(found, key=lambda pair: pair[0].address)


def _identity(one: Resource) -> dict[str, Any]:
    row = {"address": one.address, "mode": one.mode, "type": one.type, "name": one.name}
    if one.address != one.base_address:
        row["index"] = json.loads(one.address[len(one.base_address) + 1 : -1])
    return {**row, "provider_name": full_name(provider_of(one.type))}


def _values(found: Sequence[_Found]) -> dict[str, Any]:
    """The root module of `planned_values`, the modules that it calls below it."""
    modules: dict[str, list[_Found]] = defaultdict(list)
    for one, values in found:
        modules[_module_of(one)].append((one, values))
    return _module("", modules)


def _module_of(one: Resource) -> str:
    """The address of the module instance that a resource is in; empty for the root module."""
    own = f"{'data.' if one.mode == 'data' else ''}{one.type}.{one.name}"
    return one.base_address.removesuffix(own).rstrip(".")


def _module(address: str, modules: Mapping[str, Sequence[_Found]]) -> dict[str, Any]:
    out: dict[str, Any] = {"address": address} if address else {}
    if address in modules:
        out["resources"] = [{**_identity(one), "values": values.known} for one, values in _sorted(modules[address])]
    below = sorted({child for name in modules if (child := _child(address, name))})
    if below:
        out["child_modules"] = [_module(child, modules) for child in below]
    return out


def _child(parent: str, name: str) -> str | None:
    """The module directly below `parent` on the way to `name`; None where `name` is not below it."""
    while name:
        above = _parent(name)
        if above == parent:
            return name
        name = above
    return None


def _parent(name: str) -> str:
    base = base_of(name)
    return base[: base.rindex("module.")].rstrip(".")


def _change(one: Resource, values: Planned) -> dict[str, Any]:
    row = _identity(one)
    if module := _module_of(one):
        row["module_address"] = module
    action = "create" if one.mode == "managed" else "read"
    change = {"actions": [action], "before": None, "after": values.known, "after_unknown": values.unknown}
    return {**row, "change": change}


def _outputs(configuration: Configuration) -> dict[str, Any]:
    known = {name: without_unknown(value) for name, value in configuration.outputs.items()}
    return {name: {"sensitive": False} | ({} if value is ABSENT else {"value": value}) for name, value in known.items()}
