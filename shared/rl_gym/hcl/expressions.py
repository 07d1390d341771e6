"""Expressions: a Pratt parser over the tables of the lexer."""

from __future__ import annotations

import re

from rl_gym.hcl import lexer, literals
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
    Splat,
    SplatItem,
    Tuple,
    Unary,
    height,
)
from rl_gym.hcl.lexer import FREE, LINE, Mode
from rl_gym.hcl.template_parser import TemplateParser

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


class ExpressionParser(TemplateParser):
    """Reads expressions from one text."""

    __slots__ = ()

    def check_size(self, expression: Expression, before: int) -> None:
        """Refuse what nesting alone does not show: a long path, a long chain of operators.

        `before` is the number of nodes that might be made before this expression; no tree is taller than what it took.
        """
        if self.nodes < 0:
            raise self.too_many(expression.start)
        if before - self.nodes > self.max_depth and height(expression) > 2 * self.max_depth:
            message = f"a chain of operators, names or indexes more than {self.max_depth} links long"
            raise self.excess(message, expression.start)

    def whole_expression(self) -> Expression:
        """The text as one expression."""
        expression = self.expression(0, FREE, 1)
        end = FREE.skip(self.text, self.pos)
        if end < len(self.text):
            raise self.expected("the end of the expression", end)
        return expression

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
            raise self.missing("an expression", start, mode)
        kind = match.lastindex
        pos = match.end()
        node: Expression
        if kind == lexer.TERM_TEXT:
            at = match.start(kind) - 1
            node = Literal(source, at, match[kind])
        elif kind == lexer.TERM_PATH:
            at = match.start(lexer.TERM_ROOT)
            name, attributes = match.group(lexer.TERM_ROOT, lexer.TERM_PATH)
            if attributes:
                node = self.path(at, name, attributes)
            else:
                node = self.named(name, at, pos, mode, depth)
                pos = self.pos
        elif kind == lexer.TERM_OPENER:
            at = match.start(kind)
            node = self.opened(match[kind], at, mode, depth)
            pos = self.pos
        elif kind == lexer.TERM_NUMBER:
            at = match.start(kind)
            node = Literal(source, at, self.number(match[kind], at))
        else:
            at = match.start(lexer.TERM_NAME)
            node = self.named(self.name(match, lexer.TERM_NAME), at, pos, mode, depth)
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
        colon = mode.skip(self.text, self.pos)
        if self.text[colon : colon + 1] != ":":
            raise self.missing('":" and the value for when the condition is false', colon, mode)
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
                raise self.missing("the name of an attribute", pos, mode)
            if step[lexer.STEP_STAR]:
                node = self.attribute_splat(node, at, step.end(), mode)
                pos = self.pos
            else:
                node = self.step(node, at, step)
                pos = step.end()
        self.pos = pos
        return node

    def step(self, node: Expression, at: int, step: re.Match[str]) -> Expression:
        """`.name`, or the old form of an index, `.0`."""
        if step[lexer.STEP_NAME]:
            return GetAttr(self.source, at, node, self.name(step))
        start, index = step.start(lexer.STEP_NUMBER), step[lexer.STEP_NUMBER]
        if "." in index:
            raise self.wrong("an index after a dot must be a whole number; write it as [0][1]", start)
        return Index(self.source, at, node, Literal(self.source, start, self.number(index, start)))

    def attribute_splat(self, target: Expression, at: int, pos: int, mode: Mode) -> Splat:
        """What follows `.*`: names and old-style indexes belong to each element, anything else to the whole."""
        text = self.text
        each: Expression = SplatItem(self.source, at)
        while (match := mode.follow(text, pos)) is not None and match[1] == ".":
            step = mode.step(text, match.end())
            if step is None or step[lexer.STEP_STAR]:
                raise self.missing("the name of an attribute", match.end(), mode)
            self.nodes -= 1
            each = self.step(each, at, step)
            pos = step.end()
        self.pos = pos
        return Splat(self.source, at, target, each, False)

    def path(self, at: int, name: str, attributes: str) -> Expression:
        """`name` with a plain path after it, as in `.a.b`; an empty path is allowed."""
        source = self.source
        node: Expression = Literal(source, at, CONSTANTS[name]) if name in CONSTANTS else Name(source, at, name)
        if attributes:
            for attribute in attributes[1:].split("."):
                self.nodes -= 1
                node = GetAttr(source, at, node, attribute)
        return node

    # ---- terms -------------------------------------------------------------------------------------------------------

    def named(self, name: str, at: int, pos: int, mode: Mode, depth: int) -> Expression:
        """A lone name: a call, a constant or the root of a traversal."""
        text = self.text
        following = pos
        if text[pos : pos + 1] in mode.followers:
            following = mode.skip(text, pos)
        if text[following : following + 1] == "(":
            return self.call(name, at, following, depth)
        if text.startswith("::", following):
            return self.namespaced(name, at, following, mode, depth)
        self.pos = pos
        return self.path(at, name, "")

    def namespaced(self, name: str, at: int, pos: int, mode: Mode, depth: int) -> Call:
        """`provider::name::function(...)`"""
        text = self.text
        names = [name]
        while text.startswith("::", pos):
            match = mode.step(text, pos + 2)
            if match is None or not match[lexer.STEP_NAME]:
                raise self.missing('the name of a function after "::"', pos + 2, mode)
            names.append(self.name(match))
            if len(names) > self.max_depth:
                raise self.too_deep(pos)
            pos = mode.skip(text, match.end())
        if text[pos : pos + 1] != "(":
            raise self.missing('"(" and the arguments of the function', pos, mode)
        return self.call("::".join(names), at, pos, depth)

    def call(self, name: str, at: int, opening: int, depth: int) -> Call:
        text = self.text
        arguments: list[Expression] = []
        expand = False
        pos = FREE.skip(text, opening + 1)
        if text[pos : pos + 1] == ")":
            self.pos = pos + 1
            return Call(self.source, at, name, arguments, expand)
        while True:
            arguments.append(self.expression(pos, FREE, depth + 1))
            match = lexer.CALL_NEXT(text, self.pos)
            if match is not None and match.lastindex == lexer.NEXT:
                pos = match.end()
                continue
            if match is None or match.lastindex is None:
                ellipsis = lexer.ELLIPSIS(text, self.pos)
                if ellipsis is None:
                    raise self.missing(f'"," or ")" in the arguments of {name}{self.opened_at(opening)}', self.pos)
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
        pos = FREE.skip(text, opening + 1)
        if text.startswith("for", pos) and (match := lexer.FOR(text, pos)):
            return self.for_expression(opening, match.end(), "]", depth + 1)
        items: list[Expression] = []
        if text[pos : pos + 1] == "]":
            self.pos = pos + 1
            return Tuple(self.source, opening, items)
        while True:
            items.append(self.expression(pos, FREE, depth))
            match = lexer.TUPLE_NEXT(text, self.pos)
            if match is None or match.lastindex is None:
                raise self.missing(f'"," or "]" in the list{self.opened_at(opening)}', self.pos)
            pos = match.end()
            if match.lastindex == lexer.END:
                self.pos = pos
                return Tuple(self.source, opening, items)

    def braces(self, opening: int, depth: int) -> Object | ForExpression:
        text, source = self.text, self.source
        pos = FREE.skip(text, opening + 1)
        if text.startswith("for", pos) and (match := lexer.FOR(text, pos)):
            return self.for_expression(opening, match.end(), "}", depth + 1)
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
                match = lexer.KEY_END(text, self.pos)
                if match is None:
                    raise self.missing('"=" and a value after this key', self.pos, LINE)
            items.append((key, self.expression(match.end(), LINE, depth)))
            match = lexer.OBJECT_NEXT(text, self.pos)
            if match is None or match.lastindex is None:
                place = f"this entry of the object{self.opened_at(opening)}"
                raise self.missing(f'a newline, "," or "}}" after {place}', self.pos, LINE)
            pos = match.end()
            if match.lastindex == lexer.END:
                self.pos = pos
                return Object(source, opening, items)

    def for_expression(self, opening: int, pos: int, closing: str, depth: int) -> ForExpression:
        """`for` has been read; `closing` tells the list form from the object form."""
        text = self.text
        key, value, pos = self.for_names(pos)
        collection = self.expression(pos, FREE, depth)
        colon = lexer.COLON(text, self.pos)
        if colon is None:
            raise self.missing('":" after the collection of this "for"', self.pos)
        result_key: Expression | None = None
        result = self.expression(colon.end(), FREE, depth)
        arrow = lexer.ARROW(text, self.pos)
        if arrow is not None:
            if closing == "]":
                raise self.wrong('"=>" belongs to a "for" in braces; a "for" in brackets makes a list', arrow.end() - 2)
            result_key = result
            result = self.expression(arrow.end(), FREE, depth)
        elif closing == "}":
            raise self.missing('"=>" and the value of this key: a "for" in braces makes an object', self.pos)
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

    def close(self, closing: str, what: str, opening: int, pos: int | None = None) -> int:
        """The offset past `closing`, which must come next."""
        pos = FREE.skip(self.text, self.pos if pos is None else pos)
        if self.text[pos : pos + 1] != closing:
            raise self.missing(f'"{closing}" to close {what}{self.opened_at(opening)}', pos)
        return pos + 1
