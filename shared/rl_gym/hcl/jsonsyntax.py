"""The JSON syntax of Terraform, read into the same tree as the native one.

JSON does not say what is a block and what an argument; Terraform decides by schema. The blocks of the language itself
(`resource`, `variable`, `lifecycle`, `dynamic`, ...) are known here and become blocks. Those of a provider are not:
they stay arguments whose value is an object or a list of objects.

Strings are templates, except where Terraform takes them as they are (a variable's default) or for an expression
(`depends_on`, a variable's type).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from rl_gym.hcl import literals
from rl_gym.hcl.ast import Attribute, Block, Body, Expression, File, Literal, Object, Source, Tuple
from rl_gym.hcl.expressions import ExpressionParser
from rl_gym.hcl.limits import Limits
from rl_gym.hcl.reader import Reader

_SPACE = re.compile(r"[ \t\r\n]*+").match
_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"').match
_NUMBER = re.compile(r"(-?)((?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)(?![\w.])").match
_CONSTANT = re.compile(r"(?:true|false|null)(?!\w)").match
_CONSTANTS = {"true": True, "false": False, "null": None}
_COMMENT = "//"
_SURROGATE = re.compile("[\ud800-\udfff]")

_ROOT = {
    "check": 1,
    "data": 2,
    "ephemeral": 2,
    "import": 0,
    "locals": 0,
    "module": 1,
    "moved": 0,
    "output": 1,
    "provider": 1,
    "removed": 0,
    "resource": 2,
    "terraform": 0,
    "variable": 1,
}
_IN_RESOURCE = {"connection": 0, "dynamic": 1, "lifecycle": 0, "provisioner": 1}
_NESTED: Mapping[str, Mapping[str, int]] = {
    "check": {"assert": 0, "data": 2},
    "content": {"dynamic": 1},
    "data": _IN_RESOURCE,
    "dynamic": {"content": 0},
    "ephemeral": _IN_RESOURCE,
    "lifecycle": {"postcondition": 0, "precondition": 0},
    "output": {"precondition": 0},
    "provisioner": {"connection": 0},
    "removed": {"lifecycle": 0, "provisioner": 1},
    "resource": _IN_RESOURCE,
    "terraform": {"backend": 1, "cloud": 0, "provider_meta": 1, "required_providers": 0},
    "variable": {"validation": 0},
}
"""Blocks of the language within a block of that type, and how many labels each has."""

_VERBATIM = {("variable", "default"), ("variable", "description"), ("output", "description")}
_EXPRESSIONS = {
    ("variable", "type"),
    ("resource", "provider"),
    ("data", "provider"),
    ("module", "providers"),
    ("lifecycle", "ignore_changes"),
    ("lifecycle", "replace_triggered_by"),
    ("dynamic", "iterator"),
}
"""Arguments whose strings are native expressions; `depends_on` is one everywhere."""


class _Text(NamedTuple):
    start: int
    end: int
    text: str


class _Constant(NamedTuple):
    start: int
    end: int
    value: int | float | bool | None


class _Array(NamedTuple):
    start: int
    end: int
    items: list[_Value]


class _Member(NamedTuple):
    name: _Text
    value: _Value


class _Object(NamedTuple):
    start: int
    end: int
    members: list[_Member]


_Value = _Text | _Constant | _Array | _Object
_Meaning = Callable[[_Text], Expression]


class Embedded(Source):
    """The text of a JSON string. A string with escapes is all at one place, since its characters are not the file's."""

    __slots__ = ("_exact", "_outer", "_start")

    def __init__(self, outer: Source, start: int, end: int, text: str) -> None:
        super().__init__(text, outer.filename)
        self._outer = outer
        self._start = start
        self._exact = end - start == len(text) + 2

    def position(self, offset: int) -> tuple[int, int]:
        return self._outer.position(self._start + 1 + offset if self._exact else self._start)


def parse_json(source: Source, limits: Limits) -> File:
    """Read one file of JSON syntax; a file of variable values (`.tfvars.json`) has arguments alone.

    Raises HclSyntaxError, HclLimitError.
    """
    reader = _JsonReader(source, limits)
    root = reader.document()
    builder = _Builder(reader)
    if source.filename.endswith(".tfvars.json"):
        return File(source, builder.settings(root))
    return File(source, builder.body(root, "", _ROOT))


class _JsonReader(Reader):
    """Reads JSON with the place of each value."""

    __slots__ = ()

    def document(self) -> _Value:
        value = self.value(self.skip(0), 1)
        end = self.skip(value.end)
        if end < len(self.text):
            raise self.expected("the end of the file after the value", end)
        return value

    def skip(self, pos: int) -> int:
        match = _SPACE(self.text, pos)
        return match.end() if match is not None else pos

    def value(self, start: int, depth: int) -> _Value:
        text = self.text
        self.spend(1, start)
        if depth > self.max_depth:
            raise self.too_deep(start)
        first = text[start : start + 1]
        if first == "{":
            return self.object(start, depth)
        if first == "[":
            return self.array(start, depth)
        if first == '"':
            return self.string(start)
        if (match := _CONSTANT(text, start)) is not None:
            return _Constant(start, match.end(), _CONSTANTS[match[0]])
        if (match := _NUMBER(text, start)) is not None:
            number = self.number(match[2], start)
            return _Constant(start, match.end(), -number if match[1] else number)
        raise self.expected("a JSON value", start)

    def object(self, start: int, depth: int) -> _Object:
        text = self.text
        members: list[_Member] = []
        pos = self.skip(start + 1)
        while text[pos : pos + 1] != "}":
            if members:
                pos = self.comma(pos, "}", "object", start)
            if text[pos : pos + 1] != '"':
                raise self.expected("a name in double quotes", pos)
            self.spend(1, pos)
            name = self.string(pos)
            pos = self.skip(name.end)
            if text[pos : pos + 1] != ":":
                raise self.expected('":" after this name', pos)
            value = self.value(self.skip(pos + 1), depth + 1)
            members.append(_Member(name, value))
            pos = self.skip(value.end)
        return _Object(start, pos + 1, members)

    def array(self, start: int, depth: int) -> _Array:
        text = self.text
        items: list[_Value] = []
        pos = self.skip(start + 1)
        while text[pos : pos + 1] != "]":
            if items:
                pos = self.comma(pos, "]", "list", start)
            value = self.value(pos, depth + 1)
            items.append(value)
            pos = self.skip(value.end)
        return _Array(start, pos + 1, items)

    def comma(self, pos: int, closing: str, what: str, opening: int) -> int:
        if self.text[pos : pos + 1] != ",":
            raise self.expected(f'"," or "{closing}" in the {what}{self.opened_at(opening)}', pos)
        return self.skip(pos + 1)

    def string(self, start: int) -> _Text:
        match = _STRING(self.text, start)
        if match is None:
            raise self.wrong(
                "this string is not closed, or holds an escape or character that JSON does not know", start
            )
        text: str = match[1]
        if "\\" in text:
            text = _SURROGATE.sub("\ufffd", json.loads(match[0]))
        return _Text(start, match.end(), text)


class _Builder:
    """Turns JSON values into bodies and expressions."""

    __slots__ = ("_reader", "_source")

    def __init__(self, reader: _JsonReader) -> None:
        self._reader = reader
        self._source = reader.source

    # ---- structure ---------------------------------------------------------------------------------------------------

    def settings(self, root: _Value) -> Body:
        """The body of a file of variable values, whose strings are themselves."""
        body = Body()
        for member in self._members(root):
            self._add(body, member, self._verbatim, self._verbatim)
        return body

    def body(self, value: _Value, kind: str, blocks: Mapping[str, int]) -> Body:
        """The body of a block of type `kind` (of the file where it is empty) that may hold `blocks`."""
        body = Body()
        for member in self._members(value):
            name = member.name.text
            if name == _COMMENT:
                continue
            if name in blocks:
                body.blocks.extend(self._blocks(member.name, member.value, name, blocks[name], []))
            elif not kind:
                raise self._reader.wrong(f'expected one of {", ".join(blocks)}, found "{name}"', member.name.start)
            elif (kind, name) in _VERBATIM:
                self._add(body, member, self._verbatim, self._verbatim)
            elif name == "depends_on" or (kind, name) in _EXPRESSIONS:
                self._add(body, member, self._native, self._verbatim)
            else:
                self._add(body, member, self._template, self._template)
        return body

    def _members(self, value: _Value) -> Iterator[_Member]:
        """The members of an object, or of all the objects in a list."""
        for part in value.items if isinstance(value, _Array) else [value]:
            if not isinstance(part, _Object):
                raise self._reader.expected("an object", part.start)
            yield from part.members

    def _blocks(self, at: _Text, value: _Value, kind: str, labels: int, given: list[str]) -> Iterator[Block]:
        """The blocks of one type: an object for each label that is still wanted, then one object or a list of them."""
        if isinstance(value, _Constant) and value.value is None:
            return
        if labels:
            for member in self._members(value):
                if member.name.text != _COMMENT:
                    label = literals.plain(member.name.text)
                    yield from self._blocks(member.name, member.value, kind, labels - 1, [*given, label])
            return
        for part in value.items if isinstance(value, _Array) else [value]:
            body = self.body(part, kind, _NESTED.get(kind, {}))
            yield Block(self._source, at.start, part.end, kind, given, body)

    def _add(self, body: Body, member: _Member, text: _Meaning, key: _Meaning) -> None:
        """Add an argument; `text` gives the meaning of its strings and `key` that of the names in its objects."""
        name = literals.plain(member.name.text)
        if name in body.attributes:
            first = body.attributes[name].line
            message = f"the argument {name} is set twice; it was set on line {first}"
            raise self._reader.wrong(message, member.name.start)
        value = self._expression(member.value, text, key)
        body.attributes[name] = Attribute(self._source, member.name.start, member.value.end, name, value)

    # ---- expressions -------------------------------------------------------------------------------------------------

    def _expression(self, value: _Value, text: _Meaning, key: _Meaning) -> Expression:
        source = self._source
        if isinstance(value, _Text):
            return text(value)
        if isinstance(value, _Constant):
            return Literal(source, value.start, value.value)
        if isinstance(value, _Array):
            return Tuple(source, value.start, [self._expression(item, text, key) for item in value.items])
        names: set[str] = set()
        items: list[tuple[Expression, Expression]] = []
        for name, content in value.members:
            if name.text in names:
                raise self._reader.wrong(f'the name "{name.text}" stands twice in this object', name.start)
            names.add(name.text)
            items.append((key(name), self._expression(content, text, key)))
        return Object(source, value.start, items)

    def _verbatim(self, value: _Text) -> Expression:
        """A string that stands for itself."""
        return Literal(self._source, value.start, literals.plain(value.text))

    def _template(self, value: _Text) -> Expression:
        if "${" not in value.text and "%{" not in value.text:
            return self._verbatim(value)
        parser = self._inside(value)
        return self._checked(parser, parser.whole_template())

    def _native(self, value: _Text) -> Expression:
        """A string that holds an expression of the native syntax."""
        parser = self._inside(value)
        return self._checked(parser, parser.whole_expression())

    def _inside(self, value: _Text) -> ExpressionParser:
        parser = ExpressionParser(Embedded(self._source, value.start, value.end, value.text), self._reader.limits)
        parser.nodes = self._reader.nodes
        return parser

    def _checked(self, parser: ExpressionParser, expression: Expression) -> Expression:
        parser.check_size(expression, self._reader.nodes)
        self._reader.nodes = parser.nodes
        return expression
