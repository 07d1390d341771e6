"""Reads the schema of a provider out of what `terraform providers schema -json` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rl_gym.hcl.conversion import ANY, Type
from rl_gym.iac.schema.packing import Attribute, Body, Nested
from rl_gym.infra.errors import UsageError

_SECTIONS = {
    "resource_schemas": "resource",
    "data_source_schemas": "data",
    "ephemeral_resource_schemas": "ephemeral",
}
_ONE = ("single", "group")
"""Nesting modes of a block that there is one of."""


def read_provider(document: Any, name: str) -> dict[tuple[str, str], Body]:
    """The body of every (kind, type) of the provider of that local name ("aws").

    Raises UsageError for a document that is something else, or lacks the provider.
    """
    providers = document.get("provider_schemas") if isinstance(document, dict) else None
    if not isinstance(providers, dict):
        raise UsageError("not a document of `terraform providers schema -json`: it has no provider_schemas")
    address = next((address for address in providers if address.rpartition("/")[2] == name), None)
    if address is None:
        held = ", ".join(sorted(providers)) or "none"
        raise UsageError(f"the document has no provider {name!r}; it has: {held}")
    try:
        found = dict(_types(providers[address]))
        found[("provider", name)] = _body(providers[address]["provider"]["block"])
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"the schema of {address} cannot be read: {type(error).__name__}: {error}") from None
    return found


def _types(provider: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Body]]:
    for section, kind in _SECTIONS.items():
        for name, schema in sorted(provider.get(section, {}).items()):
            yield (kind, name), _body(schema["block"])


def _body(block: Mapping[str, Any]) -> Body:
    attributes = {
        name: Attribute(_attribute_type(one), one.get("required", False), not _is_computed(one))
        for name, one in block.get("attributes", {}).items()
    }
    blocks = {name: _nested(one) for name, one in block.get("block_types", {}).items()}
    return Body(attributes, blocks)


def _is_computed(attribute: Mapping[str, Any]) -> bool:
    return not (attribute.get("required") or attribute.get("optional"))


def _nested(block: Mapping[str, Any]) -> Nested:
    most = 1 if block["nesting_mode"] in _ONE else block.get("max_items") or None
    return Nested(_body(block["block"]), block.get("min_items", 0), most)


def _attribute_type(attribute: Mapping[str, Any]) -> Type:
    # Attributes with a schema of their own, which the AWS provider has none of, may hold anything.
    return _type(attribute["type"]) if "type" in attribute else ANY


def _type(written: Any) -> Type:
    """A type in Terraform's JSON form: "string", ["list", "string"], ["object", {"a": "number"}], "dynamic"."""
    if isinstance(written, str):
        return ANY if written == "dynamic" else written
    name, inner = written[0], written[1]
    if name == "object":
        return (name, tuple((field, _type(inner[field])) for field in sorted(inner)))
    return (name, tuple(map(_type, inner)) if name == "tuple" else _type(inner))
