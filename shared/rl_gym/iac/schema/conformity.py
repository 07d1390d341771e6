"""Asks whether the language, and one version of the provider, takes the blocks of a module."""

from __future__ import annotations

from collections.abc import Iterable

from rl_gym.hcl import Module, ast
from rl_gym.hcl.conversion import ANY
from rl_gym.hcl.tracing import traversal
from rl_gym.iac.schema import language
from rl_gym.iac.schema.bodies import Scope, check, is_null
from rl_gym.iac.schema.bundled import Version
from rl_gym.iac.schema.combinations import AT_LEAST_ONE
from rl_gym.iac.schema.literal_types import Names
from rl_gym.iac.schema.packing import NOTHING, Attribute, Body
from rl_gym.iac.schema.reporting import Reporter
from rl_gym.iac.schema.written import address_of

_PROVIDER = "aws"
_NOUNS = {"resource": "resource type", "data": "data source", "ephemeral": "ephemeral resource type"}


def check_language(module: Module, reporter: Reporter) -> None:
    """Report what is wrong whatever the provider: variables, outputs, calls of modules that are here."""
    scope = Scope(reporter, Names(module))
    for file in module.files:
        for block in file.body.blocks:
            name = block.labels[0] if block.labels else ""
            if block.type in language.TOP_LEVEL:
                what = f'{block.type} "{name}"' if name else block.type
                check(block, language.TOP_LEVEL[block.type], "", what, scope)
            elif block.type == "module":
                called = module.calls.get(name)
                if called is not None:
                    variables = called.declared.variables.values()
                    check(block, _variables(variables), f"module.{name}", f"module.{name}", scope, language.MODULE)
                elif "source" not in block.body.attributes:
                    reporter.add("schema", block, f'module.{name} lacks the required argument "source"')


def check_provider(module: Module, version: Version, reporter: Reporter) -> None:
    """Report what a version of the provider does not take."""
    scope = Scope(reporter, Names(module))
    for file in module.files:
        for block in file.body.blocks:
            if block.type in _NOUNS:
                _check_resource(block, version, scope)
            elif block.type == "check":
                for inner in block.body.blocks_of("data"):
                    _check_resource(inner, version, scope)
            elif block.type == "provider" and block.labels[0] == _PROVIDER:
                schema = version.find("provider", _PROVIDER) or NOTHING
                check(block, schema, f"provider.{_PROVIDER}", f"provider {_PROVIDER}", scope, language.PROVIDER)


def _variables(blocks: Iterable[ast.Block]) -> Body:
    """What a call of a module takes: its variables, of which those without a default are required."""
    return Body({block.labels[0]: Attribute(ANY, "default" not in block.body.attributes) for block in blocks}, {})


def _is_ours(kind: str) -> bool:
    return kind == _PROVIDER or kind.startswith(f"{_PROVIDER}_")


def _check_resource(block: ast.Block, version: Version, scope: Scope) -> None:
    kind = block.labels[0]
    if not _is_ours(kind):
        return
    address = address_of(block)
    schema = version.find(block.type, kind)
    if schema is not None:
        check(block, schema, address, kind, scope, language.RESOURCE if block.type == "resource" else language.DATA)
        _check_ignored(block, schema, address, scope.reporter)
        if block.type == "resource":
            _check_combinations(block, address, scope.reporter)
    elif version.has(block.type):
        hint = scope.reporter.hint(kind, lambda: version.names(block.type))
        scope.reporter.add("schema", block, f'the AWS provider has no {_NOUNS[block.type]} "{kind}"', address, hint)


def _check_combinations(block: ast.Block, address: str, reporter: Reporter) -> None:
    """Report where none of some arguments is written of which the provider asks for one."""
    groups = AT_LEAST_ONE.get(block.labels[0])
    if groups is None:
        return
    given = {name for name, attribute in block.body.attributes.items() if not is_null(attribute.expression)}
    given.update(label for inner in block.body.blocks for label in (inner.type, *inner.labels))
    for group in groups:
        if given.isdisjoint(group):
            names = ", ".join(f'"{name}"' for name in group)
            reporter.add("schema", block, f"{block.labels[0]} needs one of the arguments {names}", address)


def _check_ignored(block: ast.Block, schema: Body, address: str, reporter: Reporter) -> None:
    """Report what `ignore_changes` names and the resource does not have."""
    for lifecycle in block.body.blocks_of("lifecycle"):
        ignored = lifecycle.body.attributes.get("ignore_changes")
        for item in ignored.expression.items if ignored and isinstance(ignored.expression, ast.Tuple) else ():
            name = _first_name(item)
            if name and name not in schema.attributes and name not in schema.blocks:
                message = f'ignore_changes names "{name}", which {block.labels[0]} does not have'
                hint = reporter.hint(name, lambda: [*schema.attributes, *schema.blocks])
                reporter.add("schema", item, message, address, hint)


def _first_name(item: ast.Expression) -> str:
    """The argument in `name`, `name[0].other`; empty for anything else."""
    root, _ = traversal(item)
    return root.name if isinstance(root, ast.Name) else ""
