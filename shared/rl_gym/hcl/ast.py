"""The syntax tree: what the text says, before anything is evaluated.

Nodes are plain slotted classes, made by the parser in the hundreds for each file, so they hold a character offset and
compute line and column only when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator


class Source:
    """One file's text and the places of its lines."""

    __slots__ = ("_asked", "_starts", "filename", "text")

    def __init__(self, text: str, filename: str) -> None:
        self.text = text
        self.filename = filename
        self._asked = 0
        self._starts: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both counted from 1."""
        starts = self._starts
        if starts is None:
            self._asked += 1
            if self._asked < 4:
                # An error asks once or twice, and a table of all lines would cost more than counting to one of them.
                return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)
            starts = [0]
            find, at = self.text.find, -1
            while (at := find("\n", at + 1)) >= 0:
                starts.append(at + 1)
            self._starts = starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1


class Node:
    """Anything that stands somewhere in a file."""

    __slots__ = ("source", "start")
    source: Source
    start: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]


# ---- expressions -----------------------------------------------------------------------------------------------------


class Literal(Node):
    """A number (int or float), string without interpolation, true, false or null."""

    __slots__ = ("value",)

    def __init__(self, source: Source, start: int, value: str | int | float | bool | None) -> None:
        self.source, self.start, self.value = source, start, value


class Template(Node):
    """A quoted string or heredoc with interpolations (expressions) or directives (TemplateIf, TemplateFor)."""

    __slots__ = ("parts",)

    def __init__(self, source: Source, start: int, parts: list[TemplatePart]) -> None:
        self.source, self.start, self.parts = source, start, parts


class TemplateIf(Node):
    """`%{ if condition }then%{ else }otherwise%{ endif }` inside a template."""

    __slots__ = ("condition", "otherwise", "then")

    def __init__(
        self, source: Source, start: int, condition: Expression, then: list[TemplatePart], otherwise: list[TemplatePart]
    ) -> None:
        self.source, self.start = source, start
        self.condition, self.then, self.otherwise = condition, then, otherwise


class TemplateFor(Node):
    """`%{ for key, value in collection }body%{ endfor }` in a template; `key` is None with one name."""

    __slots__ = ("body", "collection", "key", "value")

    def __init__(
        self, source: Source, start: int, key: str | None, value: str, collection: Expression, body: list[TemplatePart]
    ) -> None:
        self.source, self.start = source, start
        self.key, self.value, self.collection, self.body = key, value, collection, body


class Tuple(Node):
    """`[a, b]`"""

    __slots__ = ("items",)

    def __init__(self, source: Source, start: int, items: list[Expression]) -> None:
        self.source, self.start, self.items = source, start, items


class Object(Node):
    """`{ key = value }`. A key written as a bare word is a Literal string; `(expr)` keeps its expression."""

    __slots__ = ("items",)

    def __init__(self, source: Source, start: int, items: list[tuple[Expression, Expression]]) -> None:
        self.source, self.start, self.items = source, start, items


class ForExpression(Node):
    """`[for k, v in c : value if cond]`, or `{for ... : key => value...}`; `result_key` is None for the list form."""

    __slots__ = ("collection", "condition", "group", "key", "result_key", "result_value", "value")

    def __init__(
        self,
        source: Source,
        start: int,
        key: str | None,
        value: str,
        collection: Expression,
        result_key: Expression | None,
        result_value: Expression,
        condition: Expression | None,
        group: bool,
    ) -> None:
        self.source, self.start = source, start
        self.key, self.value, self.collection = key, value, collection
        self.result_key, self.result_value, self.condition, self.group = result_key, result_value, condition, group


class Call(Node):
    """`name(args...)`; `expand` is true when the last argument is followed by `...`."""

    __slots__ = ("args", "expand", "name")

    def __init__(self, source: Source, start: int, name: str, args: list[Expression], expand: bool) -> None:
        self.source, self.start, self.name, self.args, self.expand = source, start, name, args, expand


class Name(Node):
    """The root of a traversal: `var`, `local`, `aws_s3_bucket`, a for-variable."""

    __slots__ = ("name",)

    def __init__(self, source: Source, start: int, name: str) -> None:
        self.source, self.start, self.name = source, start, name


class GetAttr(Node):
    """`target.name`; a legacy index `target.0` is an Index with an int Literal."""

    __slots__ = ("name", "target")

    def __init__(self, source: Source, start: int, target: Expression, name: str) -> None:
        self.source, self.start, self.target, self.name = source, start, target, name


class Index(Node):
    """`target[key]`"""

    __slots__ = ("key", "target")

    def __init__(self, source: Source, start: int, target: Expression, key: Expression) -> None:
        self.source, self.start, self.target, self.key = source, start, target, key


class Splat(Node):
    """`target[*]...` (full) or `target.*...` (attribute-only).

    `each` is applied to every element; its innermost target is a SplatItem.
    """

    __slots__ = ("each", "full", "target")

    def __init__(self, source: Source, start: int, target: Expression, each: Expression, full: bool) -> None:
        self.source, self.start, self.target, self.each, self.full = source, start, target, each, full


class SplatItem(Node):
    """The element that a Splat is looking at."""

    __slots__ = ()

    def __init__(self, source: Source, start: int) -> None:
        self.source, self.start = source, start


class Unary(Node):
    """`-x` or `!x`"""

    __slots__ = ("operand", "operator")

    def __init__(self, source: Source, start: int, operator: str, operand: Expression) -> None:
        self.source, self.start, self.operator, self.operand = source, start, operator, operand


class Binary(Node):
    """`left operator right`, operator one of `|| && == != < > <= >= + - * / %`."""

    __slots__ = ("left", "operator", "right")

    def __init__(self, source: Source, start: int, operator: str, left: Expression, right: Expression) -> None:
        self.source, self.start, self.operator, self.left, self.right = source, start, operator, left, right


class Conditional(Node):
    """`condition ? then : otherwise`"""

    __slots__ = ("condition", "otherwise", "then")

    def __init__(
        self, source: Source, start: int, condition: Expression, then: Expression, otherwise: Expression
    ) -> None:
        self.source, self.start = source, start
        self.condition, self.then, self.otherwise = condition, then, otherwise


class Parens(Node):
    """`(inner)`, kept because `(name) = value` in an object means the value of `name`."""

    __slots__ = ("inner",)

    def __init__(self, source: Source, start: int, inner: Expression) -> None:
        self.source, self.start, self.inner = source, start, inner


Expression = (
    Literal
    | Template
    | Tuple
    | Object
    | ForExpression
    | Call
    | Name
    | GetAttr
    | Index
    | Splat
    | SplatItem
    | Unary
    | Binary
    | Conditional
    | Parens
)
TemplatePart = str | TemplateIf | TemplateFor | Expression


def height(expression: Expression) -> int:
    """The number of nodes from an expression down to its deepest leaf, found without recursion."""
    deepest = 0
    stack: list[tuple[object, int]] = [(expression, 1)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, (list, tuple)):
            stack.extend((part, depth) for part in item)
        elif isinstance(item, Node):
            deepest = max(deepest, depth)
            stack.extend((getattr(item, slot), depth + 1) for slot in type(item).__slots__)
    return deepest


# ---- structure -------------------------------------------------------------------------------------------------------


class Attribute(Node):
    """`name = expression`; `end` is the offset just past the expression."""

    __slots__ = ("end", "expression", "name")

    def __init__(self, source: Source, start: int, end: int, name: str, expression: Expression) -> None:
        self.source, self.start, self.end, self.name, self.expression = source, start, end, name, expression


class Body:
    """The attributes by name, in order, and the blocks, in order, between two braces (or of a whole file)."""

    __slots__ = ("attributes", "blocks")

    def __init__(self) -> None:
        self.attributes: dict[str, Attribute] = {}
        self.blocks: list[Block] = []

    def blocks_of(self, kind: str) -> Iterator[Block]:
        return (block for block in self.blocks if block.type == kind)


class Block(Node):
    """`type "label" ... { body }`; `end` is the offset just past the closing brace."""

    __slots__ = ("body", "end", "labels", "type")

    def __init__(self, source: Source, start: int, end: int, kind: str, labels: list[str], body: Body) -> None:
        self.source, self.start, self.end = source, start, end
        self.type, self.labels, self.body = kind, labels, body


class File:
    """A parsed file."""

    __slots__ = ("body", "source")

    def __init__(self, source: Source, body: Body) -> None:
        self.source, self.body = source, body

    @property
    def filename(self) -> str:
        return self.source.filename
