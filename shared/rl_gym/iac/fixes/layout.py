"""The columns of `terraform fmt`: where equals signs and trailing comments stand in neighbouring lines.

The formatter looks at lines, not at the tree: a line with a whole `= value` aligns it with those of the lines next to
it, a line that ends in a comment aligns that likewise, and anything else breaks the column. A heredoc is of one line
with the argument that it is the value of.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

__all__ = ["laid_out", "lines_of", "stretch"]

_HEREDOC = re.compile(r"<<-?([^\W\d][\w-]*)\r?$")

_WORDS = re.compile(
    r"""
    (?P<comment> (?:\#|//).*+ )
  | "(?:[^"\\]|\\.)*+"?+ | /\*(?:[^*]|\*(?!/))*+(?:\*/)?+ | [=!<>]= | =>
  | (?P<equals> = )
  | (?P<open> [\[({] )
  | (?P<close> [\])}] )
  | [^\s\["({=!<>/\#\])}]++ | \s++ | .
    """,
    re.VERBOSE,
)


class _Row(NamedTuple):
    """A line in its cells: what stands before the columns, `= value`, and the comment at the end; either may be ""."""

    lead: str
    assign: str
    comment: str


def lines_of(text: str, newline: str) -> list[str]:
    """The lines of a text as the formatter counts them."""
    lines = text.split(newline)
    last: list[int] = list(range(len(lines)))
    below: dict[str, int] = {}
    for at in reversed(range(len(lines))):
        if "<<" in lines[at] and (opened := _HEREDOC.search(lines[at])) is not None:
            last[at] = below.get(opened[1], at)
        below[lines[at].strip()] = at
    found: list[str] = []
    at = 0
    while at < len(lines):
        found.append(newline.join(lines[at : last[at] + 1]))
        at = last[at] + 1
    return found


def _row(line: str) -> _Row | None:
    """The cells of a line; None for one that stands in no column."""
    first, newline, heredoc = line.partition("\n")
    equals, comment, depth = 0, len(first), 0
    for word in _WORDS.finditer(first):
        match word.lastgroup:
            case "comment":
                comment = word.start()
            case "equals" if not equals and depth == 0:
                equals = word.start()
            case "open":
                depth += 1
            case "close":
                depth -= 1
    before = first[:comment].rstrip()
    if depth or not equals:
        # An opening bracket is closed on another line: no whole value.
        equals = len(before)
    if not before or (equals == len(before) and comment == len(first)):
        return None
    if newline and comment < len(first):
        # No heredoc, but a file whose line ends are of both kinds.
        return None
    return _Row(first[:equals].rstrip(), before[equals:] + newline + heredoc, first[comment:].rstrip())


def stretch(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """The lines from `first` to `last` with those around them that may share a column, as a half-open range."""
    while first > 0 and _row(lines[first - 1]) is not None:
        first -= 1
    last += 1
    while last < len(lines) and _row(lines[last]) is not None:
        last += 1
    return first, last


def laid_out(lines: Sequence[str]) -> list[str]:
    """The lines with every column where `terraform fmt` puts it; spaces within a cell are left alone."""
    found: list[str] = []
    rows = [(line, _row(line)) for line in lines]
    for in_column, group in groupby(rows, key=lambda one: one[1] is not None):
        if in_column:
            found += _columns([cells for _, cells in group if cells is not None])
        else:
            found += [line for line, _ in group]
    return found


def _columns(rows: Sequence[_Row]) -> list[str]:
    heads = _joined([one.lead for one in rows], [one.assign for one in rows])
    return _joined(heads, [one.comment for one in rows])


def _joined(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Each right cell beside its left one, in one column with those of the lines next to it that have one."""
    found: list[str] = []
    for has_cell, group in groupby(zip(left, right, strict=True), key=lambda pair: bool(pair[1])):
        pairs = list(group)
        width = max(_width(start) for start, _ in pairs)
        found += [f"{a}{' ' * (width - _width(a))} {b}" if has_cell else a for a, b in pairs]
    return found


def _width(text: str) -> int:
    return len(text) if text.isascii() else sum(not unicodedata.combining(character) for character in text)
