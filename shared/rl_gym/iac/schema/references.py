"""Finds every reference in the files of a module, each with what may be referred to at its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rl_gym.hcl import Module, ast, tracing
from rl_gym.iac.schema.written import DYNAMIC, address_of, is_json

_UNREAD = frozenset({"terraform", "moved"})
"""Blocks whose contents are not evaluated."""
_NAMES_ALONE = {
    "resource": frozenset({"provider"}),
    "data": frozenset({"provider"}),
    "ephemeral": frozenset({"provider"}),
    "module": frozenset({"providers", "source", "version"}),
    "variable": frozenset({"type"}),
    "import": frozenset({"to", "provider"}),
    "removed": frozenset({"from"}),
    "lifecycle": frozenset({"ignore_changes"}),
    "provisioner": frozenset({"when", "on_failure"}),
}
"""Arguments that name something without reading it, by the type of block."""
_SELF = frozenset({"provisioner", "connection", "postcondition"})
"""Blocks in which `self` stands for the resource."""
_REPEATED = frozenset({"resource", "data", "module", "import"})
REPEATING = frozenset({"count", "for_each"})
"""The blocks of which there may be several, and the arguments that say how many."""
_QUOTED = re.compile(r"[\w-]+(\.[\w-]+)+")


class At(NamedTuple):
    """A step into a list or map: `[0]`, `["key"]`."""

    key: str | int | float


Step = str | At


class Place(NamedTuple):
    """Where an expression stands: in which resource, which names loops give it, and what else it may refer to."""

    address: str = ""
    names: frozenset[str] = frozenset()
    in_for_each: bool = False
    in_count: bool = False
    has_self: bool = False
    data: frozenset[tuple[str, str]] = frozenset()
    """Data sources that are declared for this place alone."""

    def inside(self, names: Iterable[str]) -> Place:
        return self._replace(names=self.names.union(names))


class Reference(NamedTuple):
    """`root` and what follows it, as far as that is written out: names and indexes."""

    root: str
    steps: tuple[Step, ...]
    node: ast.Node
    place: Place


def references(module: Module) -> Iterator[Reference]:
    """All of them but those to the names of loops around them."""
    for file in module.files:
        for block in file.body.blocks:
            if block.type not in _UNREAD and not _is_stand_in(block):
                yield from _of_block(block, _place_of(block))


def type_and_name(block: ast.Block) -> tuple[str, str]:
    """Those of a resource or data source."""
    kind, name = [*block.labels, "", ""][:2]
    return kind, name


def _is_stand_in(block: ast.Block) -> bool:
    """Whether a block was not written: it holds the arguments of a call to a module that is not here."""
    return block.type == "resource" and block.labels[0] == "module"


def _place_of(block: ast.Block) -> Place:
    own = [type_and_name(inner) for inner in block.body.blocks_of("data")] if block.type == "check" else ()
    repeating = block.body.attributes.keys() & REPEATING if block.type in _REPEATED else frozenset()
    return Place(
        address_of(block), in_for_each="for_each" in repeating, in_count="count" in repeating, data=frozenset(own)
    )


def _of_block(block: ast.Block, place: Place) -> Iterator[Reference]:
    skipped = _NAMES_ALONE.get(block.type, ())
    for name, attribute in block.body.attributes.items():
        if name in skipped:
            continue
        if name == "depends_on":
            yield from _quoted(attribute.expression, place)
        repeats = name in REPEATING and block.type in _REPEATED
        where = place._replace(in_for_each=False, in_count=False) if repeats else place
        yield from _of_expression(attribute.expression, where)
    for inner in block.body.blocks:
        if inner.type == DYNAMIC and len(inner.labels) == 1:
            yield from _of_dynamic(inner, place)
        elif block.type == "check" and inner.type == "data":
            yield from _of_block(inner, _place_of(inner)._replace(data=place.data))
        else:
            yield from _of_block(inner, place._replace(has_self=True) if inner.type in _SELF else place)


def _quoted(expression: ast.Expression, place: Place) -> Iterator[Reference]:
    """References in quotes, which an old form of `depends_on` has."""
    for item in expression.items if isinstance(expression, ast.Tuple) else ():
        text = item.value if isinstance(item, ast.Literal) else None
        if isinstance(text, str) and _QUOTED.fullmatch(text):
            root, *steps = text.split(".")
            yield Reference(root, tuple(steps), item, place)


def _of_dynamic(block: ast.Block, place: Place) -> Iterator[Reference]:
    iterator = block.body.attributes.get("iterator")
    inside = place.inside([_iterator(iterator.expression) if iterator else block.labels[0]])
    for name, attribute in block.body.attributes.items():
        if name != "iterator":
            yield from _of_expression(attribute.expression, place if name == "for_each" else inside)
    for inner in block.body.blocks:
        yield from _of_block(inner, inside)


def _iterator(expression: ast.Expression) -> str:
    return expression.name if isinstance(expression, ast.Name) else ""


def _of_expression(expression: ast.Expression, place: Place) -> Iterator[Reference]:
    pending: list[tuple[Any, Place]] = [(expression, place)]
    while pending:
        item, where = pending.pop()
        kind = type(item)
        if kind is ast.Literal or kind is str:
            continue
        if kind is ast.GetAttr or kind is ast.Index or kind is ast.Name:
            root, steps = tracing.traversal(item)
            pending += [(step.key, where) for step in steps if isinstance(step, ast.Index)]
            if not isinstance(root, ast.Name):
                pending.append((root, where))
            elif root.name not in where.names:
                yield Reference(root.name, tuple(_written(steps)), item, where)
        elif kind is ast.ForExpression:
            pending.append((item.collection, where))
            inside = where.inside(name for name in (item.key, item.value) if name)
            pending += ((part, inside) for part in (item.result_key, item.result_value, item.condition))
        elif kind is ast.TemplateFor:
            pending.append((item.collection, where))
            pending.append((item.body, where.inside(name for name in (item.key, item.value) if name)))
        elif kind is ast.Object:
            pending += _of_object(item, where)
        elif isinstance(item, ast.Node):
            pending += [(getattr(item, slot), where) for slot in kind.__slots__]
        elif kind is list or kind is tuple:
            pending += [(part, where) for part in item]


def _written(steps: Iterable[tracing.Step]) -> Iterator[Step]:
    """Steps up to the first that is not written out."""
    for step in steps:
        if isinstance(step, ast.GetAttr):
            yield step.name
        elif isinstance(step.key, ast.Literal) and isinstance(step.key.value, str | int | float):
            yield At(step.key.value)
        else:
            return


def _of_object(item: ast.Object, where: Place) -> Iterator[tuple[ast.Expression, Place]]:
    for key, value in item.items:
        yield key, where
        is_dynamic = isinstance(key, ast.Literal) and key.value == DYNAMIC
        if is_dynamic and isinstance(value, ast.Object) and is_json(key):
            yield value, where.inside(_json_iterators(value))
        else:
            yield value, where


def _json_iterators(definitions: ast.Object) -> Iterator[str]:
    """The names that dynamic blocks in JSON give to what they go through."""
    for key, value in definitions.items:
        yield str(getattr(key, "value", ""))
        for definition in value.items if isinstance(value, ast.Tuple) else [value]:
            for name, iterator in definition.items if isinstance(definition, ast.Object) else ():
                if getattr(name, "value", "") == "iterator":
                    yield str(getattr(iterator, "value", ""))
