"""What a tree says without being evaluated: what its expressions refer to, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rl_gym.hcl import ast


def traversals(expression: ast.Node) -> Iterator[list[str]]:
    """The dotted names of every traversal in an expression (`["aws_s3_bucket", "b", "id"]`), indexes left out."""
    pending: list[Any] = [expression]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is ast.GetAttr or kind is ast.Index:
            names: list[str] = []
            while isinstance(item, (ast.GetAttr, ast.Index)):
                if isinstance(item, ast.GetAttr):
                    names.append(item.name)
                else:
                    pending.append(item.key)
                item = item.target
            if type(item) is ast.Name:
                yield [item.name, *reversed(names)]
            else:
                pending.append(item)
        elif kind is ast.Name:
            yield [item.name]
        elif isinstance(item, ast.Node):
            pending += [getattr(item, slot) for slot in item.__slots__]
        elif isinstance(item, (list, tuple)):
            pending += item


def spelled(expression: ast.Expression) -> Any:
    """A reference that Terraform reads as a name (`depends_on`, `ignore_changes`), as text or a list of texts."""
    if type(expression) is ast.Tuple:
        return [spelled(item) for item in expression.items]
    if type(expression) is ast.Literal:
        return expression.value
    steps: list[str] = []
    item: Any = expression
    while isinstance(item, (ast.GetAttr, ast.Index)):
        if isinstance(item, ast.GetAttr):
            steps.append(f".{item.name}")
        else:
            key = item.key.value if type(item.key) is ast.Literal else "..."
            steps.append(f'["{key}"]' if isinstance(key, str) else f"[{key}]")
        item = item.target
    root = item.name if type(item) is ast.Name else "..."
    return root + "".join(reversed(steps))


def weight(*parts: Any) -> int:
    """Nodes in expressions, blocks or bodies: what evaluating them once costs, loops and functions apart."""
    count = 0
    pending: list[Any] = list(parts)
    while pending:
        item = pending.pop()
        if isinstance(item, ast.Node):
            count += 1
            pending += [getattr(item, slot) for slot in item.__slots__]
        elif isinstance(item, ast.Body):
            pending += item.attributes.values()
            pending += item.blocks
        elif isinstance(item, (list, tuple)):
            pending += item
    return count
