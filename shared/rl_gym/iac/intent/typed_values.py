"""Values of blocks as the provider has them: in the types of its schema, blocks as lists of objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rl_gym.hcl import UNKNOWN, Block
from rl_gym.hcl.conversion import ConversionError, Type, convert
from rl_gym.hcl.values import Value, has_unknown, plain
from rl_gym.iac.schema.bundled import versions
from rl_gym.iac.schema.packing import NOTHING, Body

__all__ = ["META", "ONE", "body_of", "fitted", "members_of", "typed_values"]

META = frozenset({"count", "for_each", "depends_on", "provider", "lifecycle", "dynamic", "provisioner", "connection"})
"""Arguments and blocks that are Terraform's own."""

ONE = "timeouts"
"""The one nested block that is written as an object, not as a list of them."""

_EMPTY: Mapping[str, Any] = {"string": "", "bool": False, "list": [], "set": []}


def typed_values(block: Block, body: Body, but: frozenset[str] = frozenset(), *, keep_sets: bool) -> dict[str, Any]:
    """The arguments and nested blocks of a block by name, with UNKNOWN in its place.

    A set with an unknown member is unknown as a whole; with `keep_sets`, as what a data source is asked with, it is
    told member by member.
    """
    values = {
        name: _converted(value, body.attributes[name].type if name in body.attributes else None, keep_sets)
        for name, value in block.raw.items()
        if name not in but
    }
    for name, blocks in block.nested.items():
        if name not in but:
            values[name] = _nested(name, blocks, body, keep_sets)
    return values


def _nested(name: str, blocks: list[Block], body: Body, keep_sets: bool) -> Any:
    if any(one.created is not True for one in blocks):
        return UNKNOWN
    members = members_of(body, name)
    if members:
        written = [{key: item for key, item in one.raw.items() if item is not None} for one in blocks]
        return _converted([{**members, **row} for row in written], body.attributes[name].type, keep_sets)
    inner = body.blocks[name].body if name in body.blocks else NOTHING
    values = [typed_values(one, inner, keep_sets=keep_sets) for one in blocks]
    return values[0] if name == ONE else values


def _converted(value: Value, kind: Type | None, keep_sets: bool) -> Any:
    if kind is None or (keep_sets and isinstance(value, list) and has_unknown(value)):
        return plain(value)
    return fitted(value, kind)


def body_of(mode: str, kind: str) -> Body | None:
    """What a type takes by the first version of the provider that knows it; None for other providers' types."""
    section = "data" if mode == "data" else "resource"
    return next((body for version in versions() if (body := version.find(section, kind))), None)


def members_of(body: Body | None, name: str) -> dict[str, Any]:
    """The members of an argument that is a list of objects, which may be written as blocks; empty for any other.

    Each comes with what the provider makes of one that is not set.
    """
    kind: Any = body.attributes[name].type if body is not None and name in body.attributes else None
    if isinstance(kind, tuple) and kind[0] in ("list", "set") and kind[1][0] == "object":
        return {member: _EMPTY.get(of if isinstance(of, str) else of[0]) for member, of in kind[1][1]}
    return {}


def fitted(value: Value, kind: Type) -> Any:
    """A value in a type, as plain data; as it is where it does not fit."""
    try:
        return plain(convert(value, kind))
    except ConversionError:
        return plain(value)
