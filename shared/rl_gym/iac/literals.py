"""What is written out in an expression whose value is not known: the literals that it may come to, or contains."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from rl_gym.hcl import Module, Resource, ast

_PASSED_ON = frozenset(
    {"coalesce", "try", "sensitive", "nonsensitive", "tostring", "trimspace", "chomp", "one", "concat"}
)
_FALLBACK = {"lookup": 2}
"""Functions that answer one of their arguments, and those of which one argument is the answer when all else fails."""

_MERGED = frozenset({"merge", "tomap"})

Locals = Mapping[str, ast.Expression]


class Sources:
    """The syntax trees behind a configuration: the block of each resource, with the locals around it."""

    def __init__(self, root: Module) -> None:
        self._blocks: dict[tuple[str, str, str], tuple[ast.Block, Locals]] = {}
        pending, seen = [root], {id(root)}
        while pending:
            module = pending.pop()
            self._read(module)
            new = [called for called in module.calls.values() if id(called) not in seen]
            seen.update(map(id, new))
            pending += new

    def _read(self, module: Module) -> None:
        blocks = [block for file in module.files for block in file.body.blocks]
        names = {name: one.expression for b in blocks if b.type == "locals" for name, one in b.body.attributes.items()}
        for block in blocks:
            if block.type == "resource" and len(block.labels) == 2:
                self._blocks[(block.source.filename, block.labels[0], block.labels[1])] = (block, names)

    def of(self, resource: Resource) -> tuple[ast.Block | None, Locals]:
        """The block of a resource and the locals of its module; no block where none is written, as for a plan."""
        return self._blocks.get((resource.filename, resource.type, resource.name), (None, {}))

    def names(self, beside: ast.Block, kind: str) -> set[str]:
        """The names of the resources of a type in the folder of a block."""
        folder = posixpath.dirname(beside.source.filename)
        return {name for file, one, name in self._blocks if one == kind and posixpath.dirname(file) == folder}


def arguments(body: ast.Body) -> Iterator[ast.Attribute]:
    """Every argument in a body and in the blocks nested in it."""
    pending = [body]
    while pending:
        current = pending.pop()
        yield from current.attributes.values()
        pending.extend(block.body for block in current.blocks)


def alternatives(expression: ast.Expression, names: Locals, *, unwrap: bool = True) -> Iterator[Any]:
    """The literals that an expression may come to: itself, a branch, a fallback, by way of locals.

    `unwrap` looks into `"${expression}"` too.
    """
    seen: set[int] = set()
    pending: list[ast.Expression] = [expression]
    while pending:
        node = _unwrapped(pending.pop()) if unwrap else pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ast.Literal):
            yield node.value
        elif isinstance(node, ast.Parens):
            pending.append(node.inner)
        elif isinstance(node, ast.Conditional):
            pending += (node.then, node.otherwise)
        elif isinstance(node, ast.Tuple):
            pending += node.items
        elif isinstance(node, ast.Call) and node.name in _PASSED_ON:
            pending += node.args
        elif isinstance(node, ast.Call) and node.name in _FALLBACK:
            pending += node.args[_FALLBACK[node.name] :]
        elif (local := _local(node)) in names:
            pending.append(names[local])


def entries(expression: ast.Expression, names: Locals) -> Iterator[tuple[str, ast.Expression]]:
    """The keys that an expression for a map writes out, each with its expression: in `merge`, a branch, a local."""
    seen: set[int] = set()
    pending: list[ast.Expression] = [expression]
    while pending:
        node = _unwrapped(pending.pop())
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ast.Object):
            yield from (
                (str(key.value), _unwrapped(value)) for key, value in node.items if isinstance(key, ast.Literal)
            )
        elif isinstance(node, ast.Parens):
            pending.append(node.inner)
        elif isinstance(node, ast.Conditional):
            pending += (node.then, node.otherwise)
        elif isinstance(node, ast.Call) and (node.name in _PASSED_ON or node.name in _MERGED):
            pending += node.args
        elif (local := _local(node)) in names:
            pending.append(names[local])


def texts(expression: ast.Expression, names: Locals) -> Iterator[str]:
    """Every piece of text in an expression, by way of locals."""
    seen: set[int] = set()
    pending: list[Any] = [expression]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list | tuple):
            pending += item
        elif isinstance(item, ast.Node) and id(item) not in seen:
            seen.add(id(item))
            if isinstance(item, ast.Literal):
                pending.append(item.value)
            elif isinstance(item, ast.Template):
                pending += item.parts
            elif (local := _local(item)) in names:
                pending.append(names[local])
            else:
                pending += [getattr(item, slot) for slot in item.__slots__ if slot != "name"]


def is_plain(expression: ast.Expression) -> bool:
    """Whether an expression is one literal, or names something that is no local: nothing is hidden in it."""
    if isinstance(expression, ast.GetAttr):
        root: ast.Node = expression
        while isinstance(root, ast.GetAttr):
            root = root.target
        return isinstance(root, ast.Name) and root.name != "local"
    return isinstance(expression, ast.Literal)


def provider_name(expression: ast.Expression) -> str:
    """The provider configuration in `provider = aws.west`, which was once written as a string."""
    if isinstance(expression, ast.GetAttr) and isinstance(expression.target, ast.Name):
        return f"{expression.target.name}.{expression.name}"
    if isinstance(expression, ast.Name):
        return expression.name
    return str(expression.value) if isinstance(expression, ast.Literal) else ""


def _unwrapped(expression: ast.Expression) -> ast.Expression:
    """The expression in `"${expression}"`, which is how JSON syntax writes every one; any other is itself."""
    if isinstance(expression, ast.Template) and len(expression.parts) == 1:
        part = expression.parts[0]
        if not isinstance(part, str | ast.TemplateIf | ast.TemplateFor):
            return part
    return expression


def _local(node: ast.Node) -> str:
    """The name in `local.name`; empty for any other expression."""
    if isinstance(node, ast.GetAttr) and isinstance(node.target, ast.Name) and node.target.name == "local":
        return node.name
    return ""
