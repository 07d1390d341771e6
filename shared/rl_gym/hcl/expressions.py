"""Expressions and templates: a Pratt parser over the tables of the lexer."""

from __future__ import annotations

import re
from collections.abc import Callable

from rl_gym.hcl import lexer, literals, templates
from rl_gym.hcl.ast import (
    Binary,
    Call,
    Conditional,
    Expression,
    ForExpression,
    GetAttr,
    Index,
    Literal,
    Name,
    Object,
    Parens,
    Source,
    Splat,
    SplatItem,
    Template,
    Tuple,
    Unary,
)
from rl_gym.hcl.errors import HclLimitError, HclSyntaxError
from rl_gym.hcl.identifiers import bad_character
from rl_gym.hcl.lexer import FREE, LINE, Mode
from rl_gym.hcl.limits import Limits

CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

_CONDITIONAL, _UNARY, _TRAVERSAL = 1, 8, 9
_POWER = {
    "?": _CONDITIONAL,
    "||": 2,
    "&&": 3,
    "==": 4,
    "!=": 4,
    "<": 5,
    ">": 5,
    "<=": 5,
    ">=": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "%": 7,
    ".": _TRAVERSAL,
    "[": _TRAVERSAL,
}
"""How tightly an operator holds what stands to its left; all binary operators are left-associative."""


class ExpressionParser:
    """Reads expressions from one text.

    Each method that reads starts at the offset that it is given and leaves in `pos` the offset just past what it read
    (blanks after it may be eaten too). `depth` is the number of enclosing levels.
    """

    __slots__ = ("limits", "max_depth", "nodes", "pos", "source", "text")

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.text = source.text
        self.limits = limits
        self.max_depth = limits.max_depth
        self.nodes = limits.max_nodes
        self.pos = 0

    # ---- errors ------------------------------------------------------------------------------------------------------

    def place(self, pos: int) -> tuple[int, int]:
        """Line and column, counted rather than looked up: an error is told once, and needs no table of lines."""
        return self.text.count("\n", 0, pos) + 1, pos - self.text.rfind("\n", 0, pos)

    def wrong(self, message: str, pos: int) -> HclSyntaxError:
        line, column = self.place(pos)
        return HclSyntaxError(message, filename=self.source.filename, line=line, column=column)

    def expected(self, wanted: str, pos: int, mode: Mode = FREE) -> HclSyntaxError:
        """The error that names what was expected and what stands there instead."""
        pos = _end(mode.skip(self.text, pos))
        return self.wrong(f"expected {wanted}, found {_found(self.text, pos)}", pos)

    def excess(self, message: str, pos: int) -> HclLimitError:
        line, column = self.place(pos)
        return HclLimitError(message, filename=self.source.filename, line=line, column=column)

    def too_deep(self, pos: int) -> HclLimitError:
        return self.excess(f"nested more than {self.max_depth} levels deep", pos)

    def too_many(self, pos: int) -> HclLimitError:
        return self.excess(f"more than {self.limits.max_nodes} expressions, arguments and blocks", pos)

    def name(self, match: re.Match[str], group: int = 1) -> str:
        """A name that may hold characters beyond ASCII."""
        name = match[group]
        bad = bad_character(name)
        if bad is not None:
            pos = match.start(group) + bad
            raise self.wrong(f"the character {_found(self.text, pos)} cannot stand in a name", pos)
        return name

    # ---- operators ---------------------------------------------------------------------------------------------------

    def expression(self, start: int, mode: Mode, depth: int, minimum: int = 0) -> Expression:
        """An expression of operators that hold tighter than `minimum`."""
        text, source = self.text, self.source
        self.nodes -= 1
        if self.nodes < 0:
            raise self.too_many(start)
        if depth > self.max_depth:
            raise self.too_deep(start)
        match = mode.term(text, start)
        if match is None:
            raise self.expected("an expression", start, mode)
        kind = match.lastindex
        pos = match.end()
        node: Expression
        if kind == lexer.TERM_TEXT:
            at = match.start(1) - 1
            node = Literal(source, at, match[1])
        elif kind == lexer.TERM_PATH:
            at = match.start(2)
            name, attributes = match.group(2, 3)
            if attributes:
                node = Literal(source, at, CONSTANTS[name]) if name in CONSTANTS else Name(source, at, name)
                names = attributes[1:].split(".")
                self.nodes -= len(names)
                for attribute in names:
                    node = GetAttr(source, at, node, attribute)
            else:
                node = self.named(name, at, pos, mode, depth)
                pos = self.pos
        elif kind == lexer.TERM_OPENER:
            at = match.start(5)
            node = self.opened(match[5], at, mode, depth)
            pos = self.pos
        elif kind == lexer.TERM_NUMBER:
            at = match.start(4)
            node = Literal(source, at, self.number(match[4], at))
        else:
            at = match.start(6)
            node = self.named(self.name(match, 6), at, pos, mode, depth)
            pos = self.pos

        followers = mode.followers
        while text[pos : pos + 1] in followers:
            match = mode.follow(text, pos)
            if match is None:
                break
            operator = match[1]
            power = _POWER[operator]
            if power <= minimum:
                break
            self.nodes -= 1
            if power == _TRAVERSAL:
                node = self.traversal(node, at, pos, mode, depth)
            elif power == _CONDITIONAL:
                node = self.conditional(node, at, match.end(), mode, depth)
            else:
                node = Binary(source, at, operator, node, self.expression(match.end(), mode, depth + 1, power))
            pos = self.pos
        self.pos = pos
        return node

    def conditional(self, condition: Expression, at: int, pos: int, mode: Mode, depth: int) -> Conditional:
        then = self.expression(pos, mode, depth + 1)
        colon = _end(mode.skip(self.text, self.pos))
        if self.text[colon : colon + 1] != ":":
            raise self.expected('":" and the value for when the condition is false', colon, mode)
        otherwise = self.expression(colon + 1, mode, depth + 1)
        return Conditional(self.source, at, condition, then, otherwise)

    def traversal(self, node: Expression, at: int, pos: int, mode: Mode, depth: int) -> Expression:
        """All the `.name`, `[key]` and splats that follow a term."""
        text, source = self.text, self.source
        if depth > self.max_depth:
            raise self.too_deep(pos)
        while (match := mode.follow(text, pos)) is not None and match[1] in (".", "["):
            self.nodes -= 1
            pos = match.end()
            if match[1] == "[":
                star = mode.star(text, pos)
                if star is not None:
                    each = self.traversal(SplatItem(source, at), at, star.end(), mode, depth + 1)
                    return Splat(source, at, node, each, True)
                key = self.expression(pos, FREE, depth + 1)
                pos = self.close("]", "the index", pos - 1)
                node = Index(source, at, node, key)
                continue
            step = mode.step(text, pos)
            if step is None:
                raise self.expected("the name of an attribute", pos, mode)
            if step[3]:
                node = self.attribute_splat(node, at, step.end(), mode)
                pos = self.pos
            else:
                node = self.step(node, at, step)
                pos = step.end()
        self.pos = pos
        return node

    def step(self, node: Expression, at: int, step: re.Match[str]) -> Expression:
        """`.name`, or the old form of an index, `.0`."""
        if step[1]:
            return GetAttr(self.source, at, node, self.name(step))
        start = step.start(2)
        if "." in step[2]:
            raise self.wrong("an index after a dot must be a whole number; write it as [0][1]", start)
        return Index(self.source, at, node, Literal(self.source, start, self.number(step[2], start)))

    def attribute_splat(self, target: Expression, at: int, pos: int, mode: Mode) -> Splat:
        """What follows `.*`: names and old-style indexes belong to each element, anything else to the whole."""
        text = self.text
        each: Expression = SplatItem(self.source, at)
        while (match := mode.follow(text, pos)) is not None and match[1] == ".":
            step = mode.step(text, match.end())
            if step is None or step[3]:
                raise self.expected("the name of an attribute", match.end(), mode)
            self.nodes -= 1
            each = self.step(each, at, step)
            pos = step.end()
        self.pos = pos
        return Splat(self.source, at, target, each, False)

    # ---- terms -------------------------------------------------------------------------------------------------------

    def number(self, text: str, at: int) -> int | float:
        try:
            return literals.number(text)
        except literals.LiteralError as error:
            raise self.wrong(str(error), at) from None
        except literals.NumberTooLongError:
            raise self.excess(f"a number of more than {literals.MAX_NUMBER_DIGITS} digits", at) from None

    def named(self, name: str, at: int, pos: int, mode: Mode, depth: int) -> Expression:
        """A lone name: a call, a constant or the root of a traversal."""
        text = self.text
        following = text[pos : pos + 1]
        if following in mode.followers:
            pos = _end(mode.skip(text, pos))
            following = text[pos : pos + 1]
        if following == "(":
            return self.call(name, at, pos, depth)
        if following == ":" and text.startswith("::", pos):
            return self.namespaced(name, at, pos, mode, depth)
        self.pos = pos
        if name in CONSTANTS:
            return Literal(self.source, at, CONSTANTS[name])
        return Name(self.source, at, name)

    def namespaced(self, name: str, at: int, pos: int, mode: Mode, depth: int) -> Call:
        """`provider::name::function(...)`"""
        text = self.text
        names = [name]
        while text.startswith("::", pos):
            match = mode.step(text, pos + 2)
            if match is None or not match[1]:
                raise self.expected('the name of a function after "::"', pos + 2, mode)
            names.append(self.name(match))
            if len(names) > self.max_depth:
                raise self.too_deep(pos)
            pos = _end(mode.skip(text, match.end()))
        if text[pos : pos + 1] != "(":
            raise self.expected('"(" and the arguments of the function', pos, mode)
        return self.call("::".join(names), at, pos, depth)

    def call(self, name: str, at: int, opening: int, depth: int) -> Call:
        text = self.text
        arguments: list[Expression] = []
        expand = False
        pos = _end(FREE.skip(text, opening + 1))
        if text[pos : pos + 1] == ")":
            self.pos = pos + 1
            return Call(self.source, at, name, arguments, expand)
        while True:
            arguments.append(self.expression(pos, FREE, depth + 1))
            match = lexer.CALL_NEXT(text, self.pos)
            if match is not None and match.lastindex == lexer.SEPARATED_NEXT:
                pos = match.end()
                continue
            if match is None or match.lastindex is None:
                ellipsis = lexer.ELLIPSIS(text, self.pos)
                if ellipsis is None:
                    raise self.expected(f'"," or ")" in the arguments of {name}{self.opened_at(opening)}', self.pos)
                expand = True
                self.pos = self.close(")", f"the arguments of {name}", opening, ellipsis.end())
            else:
                self.pos = match.end()
            return Call(self.source, at, name, arguments, expand)

    def opened(self, opener: str, at: int, mode: Mode, depth: int) -> Expression:
        """A term that starts with a sign of its own."""
        if opener == '"':
            return self.quoted(at, depth + 1)
        if opener == "[":
            return self.brackets(at, depth + 1)
        if opener == "{":
            return self.braces(at, depth + 1)
        if opener == "(":
            inner = self.expression(at + 1, FREE, depth + 1)
            self.pos = self.close(")", "the parenthesis", at)
            return Parens(self.source, at, inner)
        if opener == "<<":
            return self.heredoc(at, depth + 1)
        return Unary(self.source, at, opener, self.expression(at + 1, mode, depth + 1, _UNARY))

    def brackets(self, opening: int, depth: int) -> Tuple | ForExpression:
        text = self.text
        pos = _end(FREE.skip(text, opening + 1))
        if text.startswith("for", pos) and (match := lexer.FOR(text, pos)):
            return self.for_expression(opening, match.end(), "]", depth)
        items: list[Expression] = []
        if text[pos : pos + 1] == "]":
            self.pos = pos + 1
            return Tuple(self.source, opening, items)
        while True:
            items.append(self.expression(pos, FREE, depth))
            match = lexer.TUPLE_NEXT(text, self.pos)
            if match is None or match.lastindex is None:
                raise self.expected(f'"," or "]" in the list{self.opened_at(opening)}', self.pos)
            pos = match.end()
            if match.lastindex == lexer.SEPARATED_END:
                self.pos = pos
                return Tuple(self.source, opening, items)

    def braces(self, opening: int, depth: int) -> Object | ForExpression:
        text, source = self.text, self.source
        pos = _end(FREE.skip(text, opening + 1))
        if text.startswith("for", pos) and (match := lexer.FOR(text, pos)):
            return self.for_expression(opening, match.end(), "}", depth)
        items: list[tuple[Expression, Expression]] = []
        if text[pos : pos + 1] == "}":
            self.pos = pos + 1
            return Object(source, opening, items)
        while True:
            match = lexer.KEY(text, pos)
            key: Expression
            if match is not None:
                key = Literal(source, pos, match[match.lastindex or 1])
            else:
                key = self.expression(pos, LINE, depth)
                if isinstance(key, Name):
                    key = Literal(source, pos, literals.plain(key.name))
                elif isinstance(key, Literal) and (key.value is None or isinstance(key.value, bool)):
                    key = Literal(source, pos, str(key.value).lower() if key.value is not None else "null")
                match = lexer.KEY_END(text, self.pos)
                if match is None:
                    raise self.expected('"=" and a value after this key', self.pos, LINE)
            items.append((key, self.expression(match.end(), LINE, depth)))
            match = lexer.OBJECT_NEXT(text, self.pos)
            if match is None or match.lastindex is None:
                place = f"this entry of the object{self.opened_at(opening)}"
                raise self.expected(f'a newline, "," or "}}" after {place}', self.pos, LINE)
            pos = match.end()
            if match.lastindex == lexer.ENTRY_END:
                self.pos = pos
                return Object(source, opening, items)

    def for_expression(self, opening: int, pos: int, closing: str, depth: int) -> ForExpression:
        """`for` has been read; `closing` tells the list form from the object form."""
        text = self.text
        key, value, pos = self.for_names(pos)
        collection = self.expression(pos, FREE, depth)
        colon = lexer.COLON(text, self.pos)
        if colon is None:
            raise self.expected('":" after the collection of this "for"', self.pos)
        result_key: Expression | None = None
        result = self.expression(colon.end(), FREE, depth)
        arrow = lexer.ARROW(text, self.pos)
        if arrow is not None:
            if closing == "]":
                raise self.wrong('"=>" belongs to a "for" in braces; a "for" in brackets makes a list', arrow.end() - 2)
            result_key = result
            result = self.expression(arrow.end(), FREE, depth)
        elif closing == "}":
            raise self.expected('"=>" and the value of this key: a "for" in braces makes an object', self.pos)
        group = False
        if (ellipsis := lexer.ELLIPSIS(text, self.pos)) is not None:
            if closing == "]":
                message = '"..." groups the values of a "for" in braces; a "for" in brackets makes a list'
                raise self.wrong(message, ellipsis.end() - 3)
            group = True
            self.pos = ellipsis.end()
        condition = None
        if (match := lexer.IF(text, self.pos)) is not None:
            condition = self.expression(match.end(), FREE, depth)
        self.pos = self.close(closing, 'the "for" expression', opening)
        return ForExpression(self.source, opening, key, value, collection, result_key, result, condition, group)

    def for_names(self, pos: int) -> tuple[str | None, str, int]:
        """`[key,] value in`: the key's name or None, the value's name, the offset past `in`."""
        match = lexer.FOR_NAMES(self.text, pos)
        if match is None:
            raise self.expected('the names of this "for", as in "for value in" or "for key, value in"', pos)
        first = self.name(match)
        if match[2] is None:
            return None, first, match.end()
        return first, self.name(match, 2), match.end()

    def close(self, closing: str, what: str, opening: int, pos: int | None = None) -> int:
        """The offset past `closing`, which must come next."""
        pos = _end(FREE.skip(self.text, self.pos if pos is None else pos))
        if self.text[pos : pos + 1] != closing:
            raise self.expected(f'"{closing}" to close {what}{self.opened_at(opening)}', pos)
        return pos + 1

    def opened_at(self, opening: int) -> str:
        return f" opened on line {self.place(opening)[0]}"

    # ---- templates ---------------------------------------------------------------------------------------------------

    def quoted(self, opening: int, depth: int) -> Literal | Template:
        """A string in quotes with escapes, sequences or characters beyond ASCII."""
        text = self.text
        pos = opening + 1
        match = lexer.QUOTED(text, pos)
        if match is not None and match[2] == '"':
            self.pos = match.end()
            return Literal(self.source, opening, self.text_value(match[1], pos, literals.quoted))
        pieces: list[templates.Piece] = []
        trim = False
        levels = 0
        while True:
            ending = match[2] if match is not None else None
            if match is None or ending is None:
                end = match.end() if match is not None else pos
                raise self.wrong("this string is not closed: expected a quote before the end of the line", end)
            if match[1]:
                piece = self.text_value(match[1], pos, literals.quoted)
                pieces.append(piece.lstrip(lexer.WHITESPACE) if trim else piece)
            pos = match.end()
            if ending == '"':
                break
            levels += self.sequence(pieces, ending, match.start(2), pos, depth + levels)
            pos, trim = self.sequence_end(match.start(2))
            match = lexer.QUOTED(text, pos)
        self.pos = pos
        return self.template(opening, pieces)

    def heredoc(self, opening: int, depth: int) -> Literal | Template:
        text = self.text
        match = lexer.PLAIN_HEREDOC(text, opening)
        if match is not None:
            return self.plain_heredoc(opening, match)
        head = lexer.HEREDOC(text, opening)
        if head is None:
            raise self.wrong('expected a name and a newline right after "<<", as in <<EOT', opening)
        marker = self.name(head, 2)
        pieces: list[templates.Piece] = []
        pos = head.end()
        trim = False
        levels = 0
        line_start = True
        while True:
            self.nodes -= 1
            if self.nodes < 0:
                raise self.too_many(pos)
            match = lexer.HEREDOC_TEXT(text, pos)
            ending = match[2] if match is not None else None
            if match is None or ending is None:
                end = match.end() if match is not None else pos
                if end < len(text):
                    raise self.wrong("a carriage return in a heredoc must be followed by a newline", end)
                raise self.wrong(f"this heredoc is not closed: expected {marker} alone on a line of its own", opening)
            raw = match[1]
            if ending == "\n":
                if line_start and raw.strip(lexer.WHITESPACE) == marker:
                    break
                raw += "\n"
            if raw:
                piece = self.text_value(raw, pos, literals.heredoc)
                pieces.append(piece.lstrip(lexer.WHITESPACE) if trim else piece)
            pos = match.end()
            line_start = ending == "\n"
            trim = False
            if not line_start:
                levels += self.sequence(pieces, ending, match.start(2), pos, depth + levels)
                pos, trim = self.sequence_end(match.start(2))
        self.pos = match.end(1) - (1 if raw.endswith("\r") else 0)
        if head[1]:
            templates.unindent(pieces)
        return self.template(opening, pieces)

    def plain_heredoc(self, opening: int, match: re.Match[str]) -> Literal:
        """A heredoc without sequences, escapes or characters beyond ASCII, read in one match."""
        text = match[3]
        self.nodes -= text.count("\n")
        if self.nodes < 0:
            raise self.too_many(opening)
        if match[1]:
            pieces: list[templates.Piece] = [line + "\n" for line in text.split("\n")[:-1]]
            templates.unindent(pieces)
            text = "".join(piece for piece in pieces if isinstance(piece, str))
        self.pos = match.end()
        return Literal(self.source, opening, text)

    def text_value(self, raw: str, at: int, value: Callable[[str], str]) -> str:
        try:
            return value(raw)
        except literals.LiteralError as error:
            raise self.wrong(str(error), at + error.offset) from None

    def template(self, opening: int, pieces: list[templates.Piece]) -> Literal | Template:
        try:
            return templates.build(self.source, opening, pieces)
        except templates.UnmatchedDirectiveError as error:
            raise self.wrong(str(error), error.start) from None

    def sequence(self, pieces: list[templates.Piece], opening: str, at: int, pos: int, depth: int) -> int:
        """The inside of `${ }` or `%{ }`, added to `pieces`.

        Gives the change in nesting: 1 for an opening directive, -1 for a closing one.
        """
        if opening.endswith("~") and pieces and isinstance(pieces[-1], str):
            pieces[-1] = pieces[-1].rstrip(lexer.WHITESPACE)
        if opening[0] == "$":
            pieces.append(self.expression(pos, FREE, depth + 1))
            return 0
        match = lexer.DIRECTIVE(self.text, pos)
        if match is None:
            raise self.expected("if, else, endif, for or endfor", pos)
        kind = match[1]
        if kind == "if":
            pieces.append(templates.Directive(kind, at, self.expression(match.end(), FREE, depth + 1)))
            return 1
        if kind == "for":
            key, value, pos = self.for_names(match.end())
            pieces.append(templates.Directive(kind, at, self.expression(pos, FREE, depth + 1), key, value))
            return 1
        if kind not in ("else", "endif", "endfor"):
            raise self.expected("if, else, endif, for or endfor", match.start(1))
        pieces.append(templates.Directive(kind, at))
        self.pos = match.end()
        return 0 if kind == "else" else -1

    def sequence_end(self, opening: int) -> tuple[int, bool]:
        """The offset past the closing brace of a sequence, and whether space after it is to be trimmed."""
        match = lexer.SEQUENCE_END(self.text, self.pos)
        if match is None:
            raise self.expected(f'"}}" to close the sequence{self.opened_at(opening)}', self.pos)
        return match.end(), bool(match[1])


def _end(match: re.Match[str] | None) -> int:
    """Where a match ends that cannot fail, because its pattern takes the empty text."""
    if match is None:
        raise AssertionError("a gap matches everywhere")
    return match.end()


def _found(text: str, pos: int) -> str:
    """What stands at an offset, for a message."""
    if pos >= len(text):
        return "the end of the file"
    character = text[pos]
    if character in "\r\n":
        return "the end of the line"
    match = _WORD.match(text, pos)
    word = match[0] if match else character
    if not word.isprintable():
        return f"the character U+{ord(character):04X}"
    return f'"{word}"' if '"' not in word else "a quote"


_WORD = re.compile(r"[A-Za-z0-9_-]{1,40}|&&|\|\||[=!<>]=|=>|::|\.\.\.|<<")
