"""The part `configuration` of a plan document, which is about the source alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rl_gym.hcl import Limits, Module, ast
from rl_gym.hcl.module import ResourceKey
from rl_gym.hcl.tracing import spelled
from rl_gym.iac.intent.expressions import Constants, expression
from rl_gym.iac.intent.typed_values import META, ONE, body_of, fitted, members_of
from rl_gym.iac.schema.packing import Body

__all__ = ["full_name", "plan_configuration", "provider_of"]

_NOT_TOLD = frozenset({"dynamic"})
_OF_CALLS = frozenset({"source", "version", "providers"})
"""Arguments of a `module` block that are Terraform's own."""


def plan_configuration(module: Module, limits: Limits, created: Collection[str] | None) -> dict[str, Any]:
    """The part as JSON data; of the resources those alone whose addresses are in `created`, where that is given.

    Raises HclLimitError where folding its constants takes too many steps.
    """
    writer = _Writer(limits, created)
    return {"provider_config": writer.providers(module), "root_module": writer.module(module, "")}


def provider_of(kind: str) -> str:
    """The local name of the provider that a type is of, where nothing else is said."""
    return kind.partition("_")[0]


def full_name(provider: str) -> str:
    """Where a provider is from."""
    return f"registry.terraform.io/hashicorp/{provider}"


class _Writer:
    """Modules that call modules end here because they ended when they were evaluated."""

    def __init__(self, limits: Limits, created: Collection[str] | None) -> None:
        self._scope = Constants(limits)
        self._created = created

    def providers(self, module: Module) -> dict[str, Any]:
        used = dict.fromkeys(provider_of(key.type) for key in module.declared.resources)
        out: dict[str, Any] = {name: {"name": name, "full_name": full_name(name)} for name in used}
        for block in module.declared.providers:
            name, expressions = block.labels[0], self._body(block.body)
            alias = expressions.pop("alias", {}).get("constant_value")
            row = {"name": name, "full_name": full_name(name), "alias": alias, "expressions": expressions}
            out[f"{name}.{alias}" if alias else name] = _filled(row)
        return out

    def module(self, module: Module, prefix: str) -> dict[str, Any]:
        declared = module.declared
        keys = sorted(declared.resources, key=lambda key: (key.mode == "data", key.address))
        rows = {
            "resources": [
                self._resource(key, declared.resources[key])
                for key in keys
                if self._created is None or prefix + key.address in self._created
            ],
            "module_calls": {
                name: self._call(block, module.calls.get(name), f"{prefix}module.{name}.")
                for name, block in declared.modules.items()
            },
            "variables": {name: self._variable(block.body) for name, block in declared.variables.items()},
            "outputs": {name: self._output(block.body) for name, block in declared.outputs.items()},
        }
        return _filled(rows)

    def _resource(self, key: ResourceKey, block: ast.Block) -> dict[str, Any]:
        attributes = block.body.attributes
        provider = attributes.get("provider")
        row = {
            "address": key.address,
            "mode": key.mode,
            "type": key.type,
            "name": key.name,
            "provider_config_key": spelled(provider.expression) if provider else provider_of(key.type),
            "expressions": self._body(block.body, body_of(key.mode, key.type), META),
            "provisioners": [self._provisioner(one) for one in block.body.blocks_of("provisioner")],
            **self._repetition(block.body),
        }
        return _filled(row)

    def _provisioner(self, block: ast.Block) -> dict[str, Any]:
        return {"type": block.labels[0] if block.labels else "", "expressions": self._body(block.body)}

    def _repetition(self, body: ast.Body) -> dict[str, Any]:
        """What `count`, `for_each` and `depends_on` say."""
        attributes = body.attributes
        depends_on = attributes.get("depends_on")
        return {
            **{
                f"{name}_expression": expression(attributes[name].expression, self._scope)
                for name in ("count", "for_each")
                if name in attributes
            },
            "depends_on": spelled(depends_on.expression) if depends_on else None,
        }

    def _call(self, block: ast.Block, called: Module | None, prefix: str) -> dict[str, Any]:
        source, version = (block.body.attributes.get(name) for name in ("source", "version"))
        row = {
            "source": spelled(source.expression) if source else None,
            "version_constraint": spelled(version.expression) if version else None,
            "expressions": self._body(block.body, None, META | _OF_CALLS),
            **self._repetition(block.body),
            "module": self.module(called, prefix) if called else None,
        }
        return _filled(row)

    def _variable(self, body: ast.Body) -> dict[str, Any]:
        return self._constants(body, "default", "description", "sensitive")

    def _output(self, body: ast.Body) -> dict[str, Any]:
        value = body.attributes.get("value")
        told = expression(value.expression, self._scope) if value else {}
        return {"expression": told, **self._constants(body, "description", "sensitive")}

    def _constants(self, body: ast.Body, *names: str) -> dict[str, Any]:
        """The arguments of these names that are constants."""
        written = {name: body.attributes[name].expression for name in names if name in body.attributes}
        told = {name: expression(node, self._scope) for name, node in written.items()}
        return {name: row["constant_value"] for name, row in told.items() if "constant_value" in row}

    def _body(self, body: ast.Body, schema: Body | None = None, but: Collection[str] = _NOT_TOLD) -> dict[str, Any]:
        """The arguments and nested blocks of a block; what `dynamic` makes is not told, as in a real plan."""
        out: dict[str, Any] = {
            name: expression(attribute.expression, self._scope)
            for name, attribute in body.attributes.items()
            if name not in but
        }
        blocks: dict[str, list[ast.Body]] = defaultdict(list)
        for block in body.blocks:
            if block.type not in but:
                blocks[block.type].append(block.body)
        return {**out, **{name: self._blocks(name, inner, schema) for name, inner in blocks.items()}}

    def _blocks(self, name: str, blocks: Sequence[ast.Body], schema: Body | None) -> Any:
        """Nested blocks as a list; where the provider has an argument of that name, as its value."""
        nested = schema.blocks.get(name) if schema else None
        rows = [self._body(block, nested.body if nested else None) for block in blocks]
        members = members_of(schema, name)
        if not members:
            return rows[0] if name == ONE else rows
        named = [one for row in rows for inner in row.values() for one in inner.get("references", ())]
        if named or schema is None:
            return {"references": named}
        constants = [{member: row.get(member, {}).get("constant_value") for member in members} for row in rows]
        return {"constant_value": fitted(constants, schema.attributes[name].type)}


def _filled(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value not in (None, {}, [])}
