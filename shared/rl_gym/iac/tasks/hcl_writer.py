"""Blocks as data, and their text in exactly the layout that `terraform fmt` gives it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Attr", "Block", "Item", "array", "boolean", "policy", "quote", "tags", "write"]


@dataclass(frozen=True, slots=True)
class Attr:
    """`name = value`, the value being HCL text; a value of several lines is written with its own relative indent."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Block:
    """A block with its labels; `None` items are left out, so that a builder may write `style.pick(...)` in place."""

    type: str
    labels: Sequence[str] = ()
    body: Sequence[Item | None] = ()


Item = Attr | Block


def quote(text: str) -> str:
    """A string literal of plain text; template markers are the caller's to write."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def boolean(value: bool) -> str:
    return "true" if value else "false"


def array(values: Iterable[str]) -> str:
    """A list of string literals on one line."""
    return "[" + ", ".join(quote(v) for v in values) + "]"


def tags(**pairs: str) -> Attr:
    """A `tags` attribute on one line."""
    return Attr("tags", "{ " + ", ".join(f"{key} = {quote(value)}" for key, value in pairs.items()) + " }")


def policy(*statement: Attr) -> Attr:
    """A `policy` attribute that holds one statement."""
    lines = (f"    {line}" for line in _body_lines(statement))
    whole = ("jsonencode({", '  Version = "2012-10-17"', "  Statement = [{", *lines, "  }]", "})")
    return Attr("policy", "\n".join(whole))


def write(blocks: Iterable[Block]) -> str:
    """The blocks as one file, a blank line between them."""
    return "\n".join("".join(line + "\n" for line in _block_lines(block)) for block in blocks)


def _block_lines(block: Block) -> list[str]:
    head = " ".join([block.type, *(quote(label) for label in block.labels), "{"])
    body = _body_lines([item for item in block.body if item is not None])
    return [head, *(f"  {line}" if line else "" for line in body), "}"] if body else [head + "}"]


def _body_lines(items: Sequence[Item]) -> list[str]:
    """`fmt` aligns the equals signs of neighbouring one-line attributes; anything longer breaks the run."""
    lines: list[str] = []
    run: list[Attr] = []

    def flush() -> None:
        width = max((len(attr.name) for attr in run), default=0)
        lines.extend(f"{attr.name:<{width}} = {attr.value}" for attr in run)
        run.clear()

    for item in items:
        if isinstance(item, Attr) and "\n" not in item.value:
            run.append(item)
            continue
        flush()
        if isinstance(item, Attr):
            lines.extend(f"{item.name} = {item.value}".split("\n"))
        else:
            lines.extend(["", *_block_lines(item)] if lines else _block_lines(item))
    flush()
    return lines
