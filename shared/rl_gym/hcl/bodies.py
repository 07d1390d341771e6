"""Bodies of blocks to values: arguments, nested blocks, and dynamic blocks expanded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rl_gym.hcl import ast
from rl_gym.hcl.configuration import Block
from rl_gym.hcl.folding import Names, evaluate, failed
from rl_gym.hcl.tracing import spelled, traversals, weight
from rl_gym.hcl.values import UNKNOWN, Set, Unknown, UnknownType, Value, described

if TYPE_CHECKING:
    from rl_gym.hcl.scope import ModuleScope

_SPELLED = frozenset({"depends_on", "provider", "providers", "ignore_changes", "replace_triggered_by"})
"""Arguments that name things, and have no value."""
_NOT_EVALUATED = frozenset({"provisioner", "connection", "precondition", "postcondition"})
"""Blocks about `self`, which says nothing before the resource exists."""
_BLOCK_STEPS = 6
"""What making one block costs beside its content."""


def argument(scope: ModuleScope, attribute: ast.Attribute, names: Names) -> Value:
    """The value of an argument; raises HclEvaluationError or HclLimitError."""
    if attribute.name in _SPELLED:
        if attribute.name == "depends_on":
            for path in traversals(attribute.expression):
                scope.link_path(path, attribute)
        return spelled(attribute.expression)
    return evaluate(scope, attribute.expression, names)


def body_of(
    scope: ModuleScope, node: ast.Block, body: ast.Body, names: Names, created: bool | UnknownType = True
) -> Block:
    """A block with all that it says evaluated."""
    values = {name: argument(scope, attribute, names) for name, attribute in body.attributes.items()}
    for value in values.values():
        if isinstance(value, (list, dict)):
            scope.budget.value(value)
    return Block(values, blocks_of(scope, body, names), node, body, scope, names, created)


def blocks_of(scope: ModuleScope, body: ast.Body, names: Names) -> dict[str, list[Block]]:
    """The blocks of a body by type, each `dynamic` one expanded."""
    found: dict[str, list[Block]] = {}
    for block in body.blocks:
        if block.type == "dynamic" and len(block.labels) == 1:
            found.setdefault(block.labels[0], []).extend(_dynamic(scope, block, names))
        elif block.type in _NOT_EVALUATED:
            found.setdefault(block.type, []).append(Block({}, {}, block, block.body, scope, names, True))
        else:
            found.setdefault(block.type, []).append(body_of(scope, block, block.body, names))
    return found


def _dynamic(scope: ModuleScope, block: ast.Block, names: Names) -> Iterator[Block]:
    attributes = block.body.attributes
    for_each = attributes.get("for_each")
    content = next(block.body.blocks_of("content"), None)
    if for_each is None or content is None:
        raise failed(block, 'a dynamic block has an argument "for_each" and a block "content"')
    written = attributes.get("iterator")
    iterator = str(spelled(written.expression)) if written is not None else block.labels[0]
    value = evaluate(scope, for_each.expression, names)
    if isinstance(value, Unknown):
        item = {"key": value, "value": value}
        yield body_of(scope, content, content.body, {**names, iterator: item}, UNKNOWN)
        return
    entries = list(_entries(for_each, value))
    scope.refuse_instances(for_each, len(entries))
    scope.budget.spend(len(entries) * (_BLOCK_STEPS + weight(content)))
    for key, item in entries:
        yield body_of(scope, content, content.body, {**names, iterator: {"key": key, "value": item}})


def _entries(node: ast.Attribute, value: Value) -> Iterator[tuple[Value, Value]]:
    if isinstance(value, dict):
        yield from sorted(value.items())
    elif type(value) is Set:
        yield from zip(value, value, strict=True)
    elif isinstance(value, list):
        yield from enumerate(value)
    else:
        raise failed(node, f"for_each must be a collection, not {described(value)}")
