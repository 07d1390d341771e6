"""Templates: text with `${ }` and `%{ }` in it, between quotes, in a heredoc or alone."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from rl_gym.hcl import lexer, literals, template_tree
from rl_gym.hcl.ast import Expression, Literal, Template
from rl_gym.hcl.errors import HclSyntaxError
from rl_gym.hcl.lexer import FREE, Mode
from rl_gym.hcl.reader import Reader
from rl_gym.hcl.template_tree import Directive, Piece


class TemplateParser(Reader, ABC):
    """Reads templates; what stands inside their sequences is for the parser of expressions."""

    __slots__ = ()

    @abstractmethod
    def expression(self, start: int, mode: Mode, depth: int, minimum: int = 0) -> Expression:
        """An expression of operators that hold tighter than `minimum`."""

    def missing(self, wanted: str, pos: int, mode: Mode = FREE) -> HclSyntaxError:
        """The error that names what should have come next and what comes instead."""
        return self.expected(wanted, mode.skip(self.text, pos))

    def quoted(self, opening: int, depth: int) -> Literal | Template:
        """A string in quotes with escapes, sequences or characters beyond ASCII."""
        text = self.text
        pos = opening + 1
        match = lexer.QUOTED(text, pos)
        if match is not None and match[lexer.ENDING] == '"':
            self.pos = match.end()
            return Literal(self.source, opening, self.text_value(match[lexer.TEXT], pos, literals.quoted))
        pieces: list[Piece] = []
        trim = False
        levels = 0
        while True:
            if match is None or match[lexer.ENDING] is None:
                end = match.end() if match is not None else pos
                raise self.wrong("this string is not closed: expected a quote before the end of the line", end)
            if match[lexer.TEXT]:
                self.add_text(pieces, match[lexer.TEXT], pos, literals.quoted, trim)
            if match[lexer.ENDING] == '"':
                self.pos = match.end()
                return self.template(opening, pieces)
            levels += self.sequence(pieces, match, depth + levels)
            pos, trim = self.sequence_end(match.start(lexer.ENDING))
            match = lexer.QUOTED(text, pos)

    def heredoc(self, opening: int, depth: int) -> Literal | Template:
        text = self.text
        match = lexer.PLAIN_HEREDOC(text, opening)
        if match is not None:
            return self.plain_heredoc(opening, match)
        head = lexer.HEREDOC(text, opening)
        if head is None:
            raise self.wrong('expected a name and a newline right after "<<", as in <<EOT', opening)
        marker = self.name(head, lexer.MARKER)
        pos = head.end()
        pieces: list[Piece] = []
        trim = False
        levels = 0
        line_start = True
        while True:
            self.spend(1, pos)
            match = lexer.HEREDOC_TEXT(text, pos)
            if match is None or match[lexer.ENDING] is None:
                end = match.end() if match is not None else pos
                if end < len(text):
                    raise self.wrong("a carriage return in a heredoc must be followed by a newline", end)
                raise self.wrong(f"this heredoc is not closed: expected {marker} alone on a line of its own", opening)
            line_end = match[lexer.ENDING] == "\n"
            if line_end and line_start and match[lexer.TEXT].strip(lexer.WHITESPACE) == marker:
                break
            raw = match[lexer.TEXT] + "\n" if line_end else match[lexer.TEXT]
            if raw:
                self.add_text(pieces, raw, pos, literals.heredoc, trim)
            pos, trim = match.end(), False
            if not line_end:
                levels += self.sequence(pieces, match, depth + levels)
                pos, trim = self.sequence_end(match.start(lexer.ENDING))
            line_start = line_end
        self.pos = match.end(lexer.TEXT) - match[lexer.TEXT].endswith("\r")
        if head[lexer.FLUSH]:
            template_tree.unindent(pieces)
        return self.template(opening, pieces)

    def plain_heredoc(self, opening: int, match: re.Match[str]) -> Literal:
        """A heredoc without sequences, escapes or characters beyond ASCII, read in one match."""
        text = match[lexer.PLAIN_TEXT]
        self.spend(text.count("\n"), opening)
        if match[lexer.FLUSH]:
            lines: list[Piece] = [line + "\n" for line in text.split("\n")[:-1]]
            template_tree.unindent(lines)
            text = "".join(line for line in lines if isinstance(line, str))
        self.pos = match.end()
        return Literal(self.source, opening, text)

    def whole_template(self) -> Literal | Template:
        """The text as one template without quotes, where a backslash means itself."""
        pos = 0
        pieces: list[Piece] = []
        trim = False
        levels = 0
        while pos < len(self.text) and (match := lexer.BARE_TEXT(self.text, pos)) is not None:
            self.spend(1, pos)
            if match[lexer.TEXT]:
                self.add_text(pieces, match[lexer.TEXT], pos, literals.heredoc, trim)
            pos, trim = match.end(), False
            if match[lexer.ENDING] is not None:
                levels += self.sequence(pieces, match, levels + 1)
                pos, trim = self.sequence_end(match.start(lexer.ENDING))
        return self.template(0, pieces)

    def add_text(self, pieces: list[Piece], raw: str, at: int, value: Callable[[str], str], trim: bool) -> None:
        text = self.text_value(raw, at, value)
        pieces.append(text.lstrip(lexer.WHITESPACE) if trim else text)

    def text_value(self, raw: str, at: int, value: Callable[[str], str]) -> str:
        try:
            return value(raw)
        except literals.LiteralError as error:
            raise self.wrong(str(error), at + error.offset) from None

    def template(self, opening: int, pieces: list[Piece]) -> Literal | Template:
        try:
            return template_tree.build(self.source, opening, pieces)
        except template_tree.UnmatchedDirectiveError as error:
            raise self.wrong(str(error), error.start) from None

    def sequence(self, pieces: list[Piece], match: re.Match[str], depth: int) -> int:
        """The inside of `${ }` or `%{ }`, whose opening is the ending of `match`, added to `pieces`.

        Gives the change in nesting: 1 for an opening directive, -1 for a closing one.
        """
        opening, at, pos = match[lexer.ENDING], match.start(lexer.ENDING), match.end()
        self.spend(1, at)
        if opening.endswith("~") and pieces and isinstance(pieces[-1], str):
            pieces[-1] = pieces[-1].rstrip(lexer.WHITESPACE)
        if opening[0] == "$":
            pieces.append(self.expression(pos, FREE, depth + 1))
            return 0
        directive = lexer.DIRECTIVE(self.text, pos)
        kind = directive[1] if directive is not None else ""
        if directive is None or kind not in ("if", "else", "endif", "for", "endfor"):
            raise self.missing("if, else, endif, for or endfor", pos)
        if kind == "if":
            pieces.append(Directive(kind, at, self.expression(directive.end(), FREE, depth + 1)))
            return 1
        if kind == "for":
            key, value, pos = self.for_names(directive.end())
            pieces.append(Directive(kind, at, self.expression(pos, FREE, depth + 1), key, value))
            return 1
        pieces.append(Directive(kind, at))
        self.pos = directive.end()
        return 0 if kind == "else" else -1

    def sequence_end(self, opening: int) -> tuple[int, bool]:
        """The offset past the closing brace of a sequence, and whether space after it is to be trimmed."""
        match = lexer.SEQUENCE_END(self.text, self.pos)
        if match is None:
            raise self.missing(f'"}}" to close the sequence{self.opened_at(opening)}', self.pos)
        return match.end(), bool(match[1])

    def for_names(self, pos: int) -> tuple[str | None, str, int]:
        """`[key,] value in`: the key's name or None, the value's name, the offset past `in`."""
        match = lexer.FOR_NAMES(self.text, pos)
        if match is None:
            raise self.missing('the names of this "for", as in "for value in" or "for key, value in"', pos)
        first = self.name(match)
        if match[2] is None:
            return None, first, match.end()
        return first, self.name(match, 2), match.end()
