"""What a tree says without being evaluated: what its expressions refer to, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from rl_gym.hcl import ast

Step: TypeAlias = ast.GetAttr | ast.Index


def traversal(expression: ast.Expression) -> tuple[ast.Expression, list[Step]]:
    """What `root.step[step]...` starts from, and its steps from there on; none for any other expression."""
    steps: list[Step] = []
    while type(expression) is ast.GetAttr or type(expression) is ast.Index:
        steps.append(expression)
        expression = expression.target
    steps.reverse()
    return expression, steps


def traversals(expression: ast.Node) -> Iterator[list[str]]:
    """The dotted names of every traversal in an expression (`["aws_s3_bucket", "b", "id"]`), indexes left out."""
    pending: list[Any] = [expression]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is ast.GetAttr or kind is ast.Index or kind is ast.Name:
            root, steps = traversal(item)
            pending += [step.key for step in reversed(steps) if type(step) is ast.Index]
            if type(root) is ast.Name:
                yield [root.name, *(step.name for step in steps if type(step) is ast.GetAttr)]
            else:
                pending.append(root)
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
    root, steps = traversal(expression)
    return (root.name if type(root) is ast.Name else "...") + "".join(map(_spelled_step, steps))


def _spelled_step(step: Step) -> str:
    if type(step) is ast.GetAttr:
        return f".{step.name}"
    key = step.key.value if type(step.key) is ast.Literal else "..."  # type: ignore[union-attr]
    return f'["{key}"]' if isinstance(key, str) else f"[{key}]"


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
