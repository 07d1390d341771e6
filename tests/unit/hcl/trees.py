"""A syntax tree as short text, for comparison in tests."""

from __future__ import annotations

from rl_gym.hcl import parse
from rl_gym.hcl.ast import (
    Binary,
    Body,
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
    Template,
    TemplateFor,
    TemplateIf,
    TemplatePart,
    Tuple,
    Unary,
)


def value(text: str) -> Expression:
    """The expression of `a = <text>`."""
    return parse(f"a = {text}\n").body.attributes["a"].expression


def tree(text: str) -> str:
    return show(value(text))


def show(node: TemplatePart) -> str:
    """One line, close to Lisp: literals as Python writes them, names bare."""
    match node:
        case str():
            return f"|{node}|"
        case Literal():
            return repr(node.value)
        case Name():
            return node.name
        case SplatItem():
            return "@"
        case GetAttr():
            return f"{show(node.target)}.{node.name}"
        case Index():
            return f"{show(node.target)}[{show(node.key)}]"
        case Splat():
            return f"({'splat' if node.full else 'attributes'} {show(node.target)} {show(node.each)})"
        case Unary():
            return f"({node.operator} {show(node.operand)})"
        case Binary():
            return f"({node.operator} {show(node.left)} {show(node.right)})"
        case Conditional():
            return f"(if {show(node.condition)} {show(node.then)} {show(node.otherwise)})"
        case Parens():
            return f"(parens {show(node.inner)})"
        case Tuple():
            return f"[{' '.join(map(show, node.items))}]"
        case Object():
            return "{" + " ".join(f"{show(key)}={show(item)}" for key, item in node.items) + "}"
        case Call():
            return f"({node.name}{'...' if node.expand else ''}{''.join(' ' + show(item) for item in node.args)})"
        case ForExpression():
            names = node.value if node.key is None else f"{node.key},{node.value}"
            result = (
                show(node.result_value)
                if node.result_key is None
                else f"{show(node.result_key)}=>{show(node.result_value)}"
            )
            group = "..." if node.group else ""
            condition = "" if node.condition is None else f" if {show(node.condition)}"
            return f"(for {names} in {show(node.collection)}: {result}{group}{condition})"
        case Template():
            return f"<{_parts(node.parts)}>"
        case TemplateIf():
            return f"(%if {show(node.condition)} <{_parts(node.then)}> <{_parts(node.otherwise)}>)"
        case TemplateFor():
            names = node.value if node.key is None else f"{node.key},{node.value}"
            return f"(%for {names} in {show(node.collection)} <{_parts(node.body)}>)"
    raise AssertionError(node)


def _parts(parts: list[TemplatePart]) -> str:
    return " ".join(map(show, parts))


def outline(body: Body) -> list[str]:
    """A body, one line for each argument and block, blocks indented."""
    lines = [f"{name} = {show(attribute.expression)}" for name, attribute in body.attributes.items()]
    for block in body.blocks:
        lines.append(" ".join([block.type, *map(repr, block.labels)]))
        lines.extend("  " + line for line in outline(block.body))
    return lines
