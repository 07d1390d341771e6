"""Expressions as the part `configuration` of a plan tells them: a constant, or the names that they refer to.

A constant is what Terraform folds without functions: `jsonencode({})` is none. A name is listed with each of its
beginnings down to what it names: `aws_s3_bucket.b.arn`, then `aws_s3_bucket.b`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rl_gym.hcl import HclEvaluationError, Limits, ast
from rl_gym.hcl.budget import Budget
from rl_gym.hcl.folding import Names, Scope, evaluate, failed
from rl_gym.hcl.tracing import Step, traversal
from rl_gym.hcl.values import Value, plain

__all__ = ["Constants", "expression", "references"]

_STEPS_OF_NAMES = {"self": 0, "data": 2}
"""How many steps after the root name a thing; one where none is given."""

_PLAIN = frozenset({"var", "local", "each", "count", "path", "terraform", "self"})
"""Roots of what has no instances."""


class Constants(Scope):
    """Where no name means anything; what folding all constants of a configuration may cost together."""

    def __init__(self, limits: Limits) -> None:
        self.budget = Budget(limits)

    def refer(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        raise failed(root, "a constant refers to nothing")


def expression(node: ast.Expression, constants: Constants) -> dict[str, Any]:
    """`{"constant_value": ...}`, `{"references": [...]}`, or neither where functions alone make the value.

    Raises HclLimitError where folding takes too many steps.
    """
    named = list(references(node))
    if named:
        return {"references": named}
    if _calls(node):
        return {}
    try:
        return {"constant_value": plain(evaluate(constants, node))}
    except HclEvaluationError:
        return {}


def references(node: ast.Expression) -> Iterator[str]:
    """What an expression refers to, in the order in which it stands there."""
    pending: list[tuple[Any, frozenset[str]]] = [(node, frozenset())]
    while pending:
        item, bound = pending.pop()
        if isinstance(item, ast.Name | ast.GetAttr | ast.Index):
            root, steps = traversal(item)
            inner = [step.key for step in steps if isinstance(step, ast.Index)]
            if not isinstance(root, ast.Name):
                inner = [root, *inner]
            elif root.name not in bound:
                yield from _spelled(root.name, list(_written(steps)))
            pending += [(one, bound) for one in reversed(inner)]
        else:
            pending += reversed(list(_children(item, bound)))


def _calls(node: ast.Expression) -> bool:
    pending: list[Any] = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, ast.Call):
            return True
        pending += [child for child, _ in _children(item, frozenset())]
    return False


def _children(item: Any, bound: frozenset[str]) -> Iterator[tuple[Any, frozenset[str]]]:
    """What stands directly in a node, each with the names that loops around it bind."""
    if isinstance(item, list | tuple):
        yield from ((part, bound) for part in item)
    elif isinstance(item, ast.ForExpression | ast.TemplateFor):
        yield item.collection, bound
        inner = bound | {name for name in (item.key, item.value) if name}
        parts = (item.body,) if isinstance(item, ast.TemplateFor) else (item.result_key, item.result_value)
        yield from ((part, inner) for part in parts)
        if isinstance(item, ast.ForExpression):
            yield item.condition, inner
    elif isinstance(item, ast.Conditional | ast.TemplateIf):
        yield from ((part, bound) for part in (item.condition, item.then, item.otherwise))
    elif isinstance(item, ast.Binary):
        yield from ((part, bound) for part in (item.left, item.right))
    elif isinstance(item, ast.Splat):
        yield from ((part, bound) for part in (item.target, item.each))
    elif isinstance(item, ast.Node):
        yield from ((getattr(item, slot), bound) for slot in item.__slots__)


def _written(steps: Sequence[Step]) -> Iterator[str]:
    """Steps as text, up to the first that is no constant."""
    for step in steps:
        if isinstance(step, ast.GetAttr):
            yield f".{step.name}"
        elif isinstance(step.key, ast.Literal) and isinstance(step.key.value, str | int):
            yield f"[{json.dumps(step.key.value, ensure_ascii=False)}]"
        else:
            return


def _spelled(root: str, steps: list[str]) -> Iterator[str]:
    """A traversal and its beginnings, the longest first, down to the thing that it names.

    An instance is followed by its resource, an output by its module.
    """
    if root == "resource" and steps:
        root, steps = steps[0].removeprefix("."), steps[1:]
    named = _STEPS_OF_NAMES.get(root, 1)
    if len(steps) < named or any(step.startswith("[") for step in steps[:named]):
        return
    indexed = root not in _PLAIN and steps[named : named + 1] != [] and steps[named].startswith("[")
    output = root == "module" and len(steps) > named + indexed
    subject = named + indexed + output
    for length in range(len(steps), subject - 1, -1):
        yield root + "".join(steps[:length])
    if indexed or output:
        yield root + "".join(steps[: subject - 1])
