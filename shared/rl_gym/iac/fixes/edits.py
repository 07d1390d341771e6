"""Edits of source text: made from places in a syntax tree, applied so that the layout stays that of `terraform fmt`.

An edit holds exactly what is new. Where the lines around it stood in the columns of the formatter, they are brought to
them again, which may move their equals signs; where they did not, they are left as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, zip_longest
from typing import NamedTuple

from rl_gym.hcl import ast
from rl_gym.iac.fixes.layout import laid_out, lines_of, stretch
from rl_gym.iac.tasks import hcl_writer as hcl

__all__ = ["Edit", "add_after", "add_arguments", "add_block", "apply", "clash", "ended", "replace"]

_HEADER = re.compile(r'[^"{]*+(?:"[^"]*+"[^"{]*+)*+\{')
_BLANK_LINE = re.compile(r"\r?\n|\Z")

_LEADING = frozenset({"count", "for_each", "provider"})
_TRAILING = frozenset({"tags", "tags_all", "depends_on"})
"""Arguments that people write first and last: a new one goes between them."""


class Edit(NamedTuple):
    """Characters `start` to `end` of a file are replaced by `text`, whose lines end in `\\n`.

    `below` tells that it adds a whole block below another one: any number of them may do so at one place.
    """

    filename: str
    start: int
    end: int
    text: str
    below: bool = False


def clash(one: Edit, other: Edit) -> bool:
    """Whether two edits are at the same place, so that one of them has to wait for the text that the other leaves."""
    touching = one.filename == other.filename and one.start <= other.end and other.start <= one.end
    return touching and not (one.below and other.below)


def ended(text: str) -> str:
    """The text with a newline at its end, of the kind of its others."""
    return text if text.endswith("\n") else text + _newline(text)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not clash; its own line ends are kept.

    Of blocks that are added below the same one, the last of the edits stands first.
    """
    newline = _newline(text)
    old_lines = lines_of(text, newline)
    starts = [0, *accumulate(len(line) + len(newline) for line in old_lines)][:-1]
    pieces: list[str] = []
    moved: list[tuple[int, int]] = []
    at = shift = 0
    for edit, new in _in_order(text, edits):
        first, last = (bisect_right(starts, offset) - 1 for offset in (edit.start, edit.end))
        grown = new.count("\n") - (last - first)
        before = old_lines[slice(*stretch(old_lines, first, last))]
        if laid_out(before) == before:
            moved.append((first + shift, last + shift + grown))
        pieces += [text[at : edit.start], new.replace("\n", newline)]
        at, shift = edit.end, shift + grown
    lines = lines_of("".join([*pieces, text[at:]]), newline)
    for first, last in moved:
        start, end = stretch(lines, first, last)
        lines[start:end] = laid_out(lines[start:end])
    return newline.join(lines)


def replace(attribute: ast.Attribute, value: str) -> Edit:
    """Another value for an argument."""
    return Edit(attribute.source.filename, attribute.expression.start, attribute.end, value)


def add_arguments(block: ast.Block, values: Mapping[str, str]) -> Edit:
    """New arguments, below those of one line that a block begins with, above its nested blocks and its tags."""
    lines = "".join(f"{name} = {value}\n" for name, value in values.items())
    if _on_one_line(block):
        return _opened(block, lines)
    text, body = block.source.text, block.body
    first_block = min((inner.start for inner in body.blocks), default=block.end)
    written = [one for one in body.attributes.values() if one.start < first_block and one.name not in _TRAILING]
    settings = [one for one in written if one.name not in _LEADING and "\n" not in text[one.start : one.end]]
    above = settings or written
    offset = _next_line(text, above[-1].end if above else block.start)
    lines = _indented(lines, _inner_indent(block))
    if above and above[-1].name in _LEADING:
        lines = "\n" + lines
    elif not above and (body.attributes or body.blocks):
        lines += "\n"
    return Edit(block.source.filename, offset, offset, lines)


def add_block(block: ast.Block, new: hcl.Block) -> Edit:
    """A new nested block, below all that a block holds."""
    body = block.body
    if _on_one_line(block):
        return _opened(block, hcl.write([new]), gap="\n")
    indent = _inner_indent(block)
    offset = block.source.text.rfind("\n", 0, block.end - 1) + 1
    gap = "\n" if body.attributes or body.blocks else ""
    return Edit(block.source.filename, offset, offset, gap + _indented(hcl.write([new]), indent))


def add_after(block: ast.Block, new: hcl.Block) -> Edit:
    """A new block of the file, below another one and a blank line away from both its neighbours."""
    offset = _next_line(block.source.text, block.end)
    return Edit(block.source.filename, offset, offset, "\n" + hcl.write([new]), below=True)


def _in_order(text: str, edits: Iterable[Edit]) -> Iterator[tuple[Edit, str]]:
    """Edits of a text in their order in it, each once, with what is new: added blocks stand a blank line apart."""
    ordered = [*dict.fromkeys(edits)]
    ordered.reverse()
    ordered.sort(key=lambda edit: (edit.start, edit.end))
    for edit, following in zip_longest(ordered, ordered[1:]):
        alone = following is None or following.start > edit.end
        apart = edit.below and alone and not _BLANK_LINE.match(text, edit.end)
        yield edit, edit.text + "\n" * apart


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _on_one_line(block: ast.Block) -> bool:
    return "\n" not in block.source.text[block.start : block.end]


def _opened(block: ast.Block, items: str, gap: str = "") -> Edit:
    """A block of one line with more items, now on lines of their own, a `gap` below what it holds."""
    text = block.source.text
    header = _HEADER.match(text, block.start)
    opening = header.end() if header else block.start
    kept = text[opening : block.end - 1].strip()
    indent = _indent(block)
    body = _indented(f"{kept}\n{gap}{items}" if kept else items, indent + "  ")
    return Edit(block.source.filename, opening, block.end - 1, f"\n{body}{indent}")


def _indent(block: ast.Block) -> str:
    text = block.source.text
    line = text[text.rfind("\n", 0, block.start) + 1 : block.start].lstrip("\ufeff")
    return line if not line.strip() else ""


def _inner_indent(block: ast.Block) -> str:
    """The indent of what a block holds already, else two spaces more than its own."""
    text = block.source.text
    for item in (*block.body.attributes.values(), *block.body.blocks):
        line = text[text.rfind("\n", 0, item.start) + 1 : item.start]
        if not line.strip():
            return line
    return _indent(block) + "  "


def _next_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line if line.strip() else line for line in text.split("\n"))
