"""What is written in a block, whichever syntax it is in: its arguments, and the blocks nested in it.

JSON does not say what is a block: what the schema calls one is read as one, be it an object or a list of objects.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from rl_gym.hcl import ast

DYNAMIC = "dynamic"
_CONTENT = "content"
_COMMENT = "//"


class Written(NamedTuple):
    """A nested block. `times` is how many of it there will be: None for a dynamic one that does not write it out."""

    name: str
    node: ast.Node
    body: ast.Body
    labels: Sequence[str] = ()
    times: int | None = 1
    dynamic: bool = False


def is_json(node: ast.Node) -> bool:
    """Whether something is written in JSON syntax."""
    return node.source.filename.endswith(".json")


def address_of(block: ast.Block) -> str:
    """The address of what a block of the file declares, by its type and labels: `aws_vpc.main`, `data.aws_ami.a`."""
    return ".".join(block.labels if block.type == "resource" else [block.type, *block.labels])


def read(body: ast.Body, blocks: Container[str]) -> tuple[list[ast.Attribute], list[Written]]:
    """The arguments and the blocks in a body; `blocks` are the names of what is a block by the schema."""
    nested = [one for block in body.blocks for one in _read_block(block)]
    arguments = []
    for attribute in body.attributes.values():
        # An override file in one syntax may add to a block in the other.
        if attribute.name in blocks and is_json(attribute):
            nested.extend(Written(attribute.name, attribute, inner) for inner in _objects(attribute.expression))
        else:
            arguments.append(attribute)
    return arguments, nested


def _read_block(block: ast.Block) -> Iterator[Written]:
    if block.type != DYNAMIC or len(block.labels) != 1:
        yield Written(block.type, block, block.body, block.labels)
        return
    each = block.body.attributes.get("for_each")
    times = _length(each.expression) if each else None
    for content in block.body.blocks_of(_CONTENT):
        yield Written(block.labels[0], block, content.body, (), times, dynamic=True)


def _length(expression: ast.Expression) -> int | None:
    return len(expression.items) if isinstance(expression, ast.Tuple | ast.Object) else None


def _objects(expression: ast.Expression) -> Iterator[ast.Body]:
    """The bodies that a JSON value writes: of an object, or of each in a list; text and null write none."""
    if isinstance(expression, ast.Tuple):
        for item in expression.items:
            yield from _objects(item)
    elif isinstance(expression, ast.Object):
        yield _as_body(expression)


def _as_body(expression: ast.Object) -> ast.Body:
    body = ast.Body()
    for key, value in expression.items:
        name = str(key.value) if isinstance(key, ast.Literal) else ""
        if name == DYNAMIC:
            body.blocks += _dynamics(value)
        elif name and name != _COMMENT:
            body.attributes[name] = ast.Attribute(key.source, key.start, key.start, name, value)
    return body


def _dynamics(expression: ast.Expression) -> Iterator[ast.Block]:
    """The dynamic blocks in the value of "dynamic": an object of their definitions by name."""
    for by_name in _objects(expression):
        for name, definition in by_name.attributes.items():
            for body in _objects(definition.expression):
                content = body.attributes.pop(_CONTENT, None)
                for inner in _objects(content.expression) if content else ():
                    body.blocks.append(
                        ast.Block(definition.source, definition.start, definition.end, _CONTENT, [], inner)
                    )
                yield ast.Block(definition.source, definition.start, definition.end, DYNAMIC, [name], body)
