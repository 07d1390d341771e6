"""Structure: files, bodies, arguments and blocks."""

from __future__ import annotations

from rl_gym.hcl import lexer, literals
from rl_gym.hcl.ast import Attribute, Block, Body, File, Literal, Source
from rl_gym.hcl.errors import HclLimitError, HclSyntaxError
from rl_gym.hcl.expressions import ExpressionParser
from rl_gym.hcl.jsonsyntax import parse_json
from rl_gym.hcl.lexer import LINE
from rl_gym.hcl.limits import DEFAULT, Limits
from rl_gym.hcl.reader import Reader


def parse(text: str, filename: str = "main.tf", limits: Limits = DEFAULT) -> File:
    """Read one file: JSON syntax if its name ends in `.json`, else native syntax.

    Raises HclSyntaxError where `terraform fmt` refuses the text, HclLimitError where the text exceeds `limits`.
    """
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        source = Source(text, filename)
        raise Reader(source, limits).wrong("half a surrogate pair is not a character", error.start) from None
    if size > limits.max_bytes:
        raise HclLimitError(f"{size} bytes are more than the {limits.max_bytes} that are read", filename=filename)
    source = Source(text, filename)
    if filename.endswith(".json"):
        return parse_json(source, limits)
    return File(source, Parser(source, limits).file())


class Parser(ExpressionParser):
    """Reads a whole file. After a block, `closed` is the offset just past its brace."""

    __slots__ = ("closed",)

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self.closed = 0

    def file(self) -> Body:
        return self.body(1 if self.text.startswith("\ufeff") else 0, 1, None)

    def body(self, pos: int, depth: int, opening: int | None) -> Body:
        """Items up to the line of the closing brace, or to the end of the file where `opening` is None."""
        text, source = self.text, self.source
        body = Body()
        attributes, blocks = body.attributes, body.blocks
        if depth > self.max_depth:
            raise self.too_deep(pos)
        while True:
            self.nodes -= 1
            if self.nodes < 0:
                raise self.too_many(pos)
            match = lexer.ITEM(text, pos)
            if match is None:
                pos = self.item(body, pos, depth, opening)
                continue
            kind = match.lastindex
            pos = match.end()
            if kind == lexer.ITEM_CLOSE:
                self.closed = match.end(kind)
                if opening is None:
                    raise self.wrong('"}" closes nothing', self.closed - 1)
                self.pos = pos
                return body
            if kind == lexer.ITEM_END:
                if opening is not None:
                    raise self.missing(f'"}}" to close the block{self.opened_at(opening)}', pos)
                return body
            name, start = match[lexer.ITEM_NAME], match.start(lexer.ITEM_NAME)
            if kind == lexer.ITEM_LINES:
                labels = [label.strip('"') for label in lexer.LABEL(match[lexer.ITEM_BLOCK])]
                inner = self.body(pos, depth + 1, match.end(lexer.ITEM_BLOCK))
                blocks.append(Block(source, start, self.closed, name, labels, inner))
                pos = self.pos
            elif kind == lexer.ITEM_BLOCK:
                labels = [label.strip('"') for label in lexer.LABEL(match[kind])]
                blocks.append(self.block(name, labels, start, pos, depth))
                pos = self.pos
            elif name in attributes:
                raise self.repeated(name, start, attributes[name])
            elif kind == lexer.ITEM_TEXT:
                value = Literal(source, match.start(kind) - 1, match[kind])
                attributes[name] = Attribute(source, start, match.end(kind) + 1, name, value)
            elif kind == lexer.ITEM_PATH:
                before = self.nodes
                path = self.path(match.start(lexer.ITEM_ROOT), *match.group(lexer.ITEM_ROOT, lexer.ITEM_PATH))
                self.check_size(path, before)
                attributes[name] = Attribute(source, start, match.end(kind), name, path)
            else:
                attributes[name] = self.argument(name, start, pos, depth)
                pos = self.end_of_line("this argument")

    def item(self, body: Body, pos: int, depth: int, opening: int | None) -> int:
        """An item of an uncommon shape, or a mistake. Gives the offset past it."""
        text = self.text
        match = lexer.HEADER_NAME(text, pos)
        if match is None:
            pos = lexer.FREE.skip(text, pos)
            if text[pos : pos + 1] == '"':
                raise self.wrong("expected the name of an argument or block; a name stands without quotes", pos)
            if opening is not None and text[pos : pos + 1] == "}":
                raise self.missing("a newline after this block", pos + 1, LINE)
            raise self.missing("the name of an argument or block", pos)
        name = self.name(match)
        start = match.start(1)
        labels: list[str] = []
        pos = match.end()
        while (match := lexer.HEADER_NEXT(text, pos)) is not None:
            pos = match.end()
            if match[lexer.HEADER_EQUALS]:
                if labels:
                    break
                if name in body.attributes:
                    raise self.repeated(name, start, body.attributes[name])
                body.attributes[name] = self.argument(name, start, pos, depth)
                return self.end_of_line("this argument")
            if match[lexer.HEADER_BRACE]:
                body.blocks.append(self.block(name, labels, start, pos, depth))
                return self.pos
            self.spend(1, pos)
            if match[lexer.HEADER_LABEL]:
                labels.append(self.name(match, lexer.HEADER_LABEL))
            else:
                labels.append(self.label(pos))
                pos = self.pos
        place = match.start(1) if match is not None else pos
        if labels:
            raise self.missing('"{" after the labels of this block', place, LINE)
        raise self.missing('"=" and a value, or "{" and a block, after this name', place, LINE)

    def label(self, pos: int) -> str:
        match = lexer.QUOTED(self.text, pos)
        if match is None or match[lexer.ENDING] != '"':
            end = match.end() if match else pos
            if match is not None and match[lexer.ENDING]:
                raise self.wrong("a label cannot hold a template", match.start(lexer.ENDING))
            raise self.wrong("this label is not closed: expected a quote before the end of the line", end)
        self.pos = match.end()
        return self.text_value(match[lexer.TEXT], pos, literals.quoted)

    def argument(self, name: str, start: int, pos: int, depth: int) -> Attribute:
        before = self.nodes
        expression = self.expression(pos, LINE, depth + 1)
        self.check_size(expression, before)
        end = self.pos
        while self.text[end - 1] in " \t":
            end -= 1
        return Attribute(self.source, start, end, name, expression)

    def block(self, kind: str, labels: list[str], start: int, pos: int, depth: int) -> Block:
        """A block from just past its opening brace to the end of its last line."""
        text = self.text
        match = lexer.OPENED(text, pos)
        if match is None:
            raise AssertionError("the table of openings takes the empty text")
        opening = pos - 1
        pos = match.end()
        if match.lastindex == lexer.OPENED_LINES:
            body = self.body(pos, depth + 1, opening)
        elif match.lastindex == lexer.OPENED_EMPTY:
            body = Body()
            self.closed = match.end(1)
            self.pos = pos
        else:
            body = self.single_line_body(pos, depth + 1)
            self.closed = self.pos
            self.pos = self.end_of_line("this block")
        return Block(self.source, start, self.closed, kind, labels, body)

    def single_line_body(self, pos: int, depth: int) -> Body:
        """The one argument of a block that stands on one line."""
        text = self.text
        body = Body()
        match = lexer.HEADER_NAME(text, pos)
        if match is None:
            empty = lexer.CLOSE_LINE(text, pos)
            if empty is not None:
                raise self.missing("a newline after this block", empty.end(), LINE)
            raise self.missing('an argument and "}" on the same line, or a newline', pos, LINE)
        name, start, pos = self.name(match), match.start(1), match.end()
        match = lexer.HEADER_NEXT(text, pos)
        if match is None or not match[lexer.HEADER_EQUALS]:
            raise self.missing('"=" and a value: a block on one line holds one argument and no block', pos, LINE)
        body.attributes[name] = self.argument(name, start, match.end(), depth)
        match = lexer.CLOSE_LINE(text, self.pos)
        if match is None:
            raise self.missing('"}": a block on one line holds one argument', self.pos, LINE)
        self.pos = match.end()
        return body

    def end_of_line(self, what: str) -> int:
        match = lexer.EOL(self.text, self.pos)
        if match is None:
            raise self.missing(f"a newline after {what}", self.pos, LINE)
        return match.end()

    def repeated(self, name: str, pos: int, first: Attribute) -> HclSyntaxError:
        return self.wrong(f"the argument {name} is set twice; it was set on line {first.line}", pos)
