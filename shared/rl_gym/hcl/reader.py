"""What every reader of text has: where it stands, how much it may still make, and how it says what is wrong."""

from __future__ import annotations

import re

from rl_gym.hcl import literals
from rl_gym.hcl.ast import Source
from rl_gym.hcl.errors import HclLimitError, HclSyntaxError
from rl_gym.hcl.identifiers import bad_character
from rl_gym.hcl.limits import Limits

_WORD = re.compile(r"[A-Za-z0-9_-]{1,40}|&&|\|\||[=!<>]=|=>|::|\.\.\.|<<").match


class Reader:
    """Reads one text within limits.

    Each method that reads starts at the offset that it is given and leaves in `pos` the offset just past what it read
    (blanks after it may be eaten too). `depth` is the number of enclosing levels, `nodes` how many may still be made.
    """

    __slots__ = ("limits", "max_depth", "nodes", "pos", "source", "text")

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.text = source.text
        self.limits = limits
        self.max_depth = limits.max_depth
        self.nodes = limits.max_nodes
        self.pos = 0

    def wrong(self, message: str, pos: int) -> HclSyntaxError:
        line, column = self.source.position(pos)
        return HclSyntaxError(message, filename=self.source.filename, line=line, column=column)

    def expected(self, wanted: str, pos: int) -> HclSyntaxError:
        """The error that names what was wanted and what stands there instead."""
        return self.wrong(f"expected {wanted}, found {found(self.text, pos)}", pos)

    def excess(self, message: str, pos: int) -> HclLimitError:
        line, column = self.source.position(pos)
        return HclLimitError(message, filename=self.source.filename, line=line, column=column)

    def too_deep(self, pos: int) -> HclLimitError:
        return self.excess(f"nested more than {self.max_depth} levels deep", pos)

    def too_many(self, pos: int) -> HclLimitError:
        return self.excess(f"more than {self.limits.max_nodes} expressions, arguments and blocks", pos)

    def spend(self, nodes: int, pos: int) -> None:
        """Take so many nodes from those that may still be made."""
        self.nodes -= nodes
        if self.nodes < 0:
            raise self.too_many(pos)

    def opened_at(self, opening: int) -> str:
        return f" opened on line {self.source.position(opening)[0]}"

    def number(self, text: str, at: int) -> int | float:
        try:
            return literals.number(text)
        except literals.LiteralError as error:
            raise self.wrong(str(error), at) from None
        except literals.NumberTooLongError:
            raise self.excess(f"a number of more than {literals.MAX_NUMBER_DIGITS} digits", at) from None

    def name(self, match: re.Match[str], group: int = 1) -> str:
        """A name that may hold characters beyond ASCII."""
        name = match[group]
        bad = bad_character(name)
        if bad is not None:
            pos = match.start(group) + bad
            raise self.wrong(f"the character {found(self.text, pos)} cannot stand in a name", pos)
        return name


def found(text: str, pos: int) -> str:
    """What stands at an offset, for a message."""
    if pos >= len(text):
        return "the end of the file"
    character = text[pos]
    if character in "\r\n":
        return "the end of the line"
    match = _WORD(text, pos)
    word = match[0] if match else character
    if not word.isprintable():
        return f"the character U+{ord(character):04X}"
    return "a quote" if word == '"' else f'"{word}"'
