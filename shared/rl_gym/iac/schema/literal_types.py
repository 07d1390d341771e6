"""Whether what is written for an argument can be of the argument's type, as far as the text alone tells.

Terraform converts: "3" is a number, 80 and true are strings, a list is a set. Where an expression may still come to
anything (an attribute of a resource, most functions, a conditional) it fits.
"""

from __future__ import annotations

from rl_gym.hcl import Module, ast
from rl_gym.hcl.conversion import (
    ANY,
    BOOL,
    NUMBER,
    PRIMITIVES,
    STRING,
    ConversionError,
    Type,
    convert,
    parse_type,
    type_name,
)

_MOST_LOCALS = 16
"""Locals that may refer to one another."""
_SEQUENCES = frozenset({"list", "set", "tuple"})
_NAMED = frozenset({"map", "object"})


class Names:
    """What the names of a module stand for."""

    def __init__(self, module: Module) -> None:
        self._variables = module.declared.variables
        self._locals = module.declared.locals
        self._types: dict[str, Type] = {}
        self.answers: dict[tuple[str, Type], str] = {}
        """What was answered about locals: one of a thousand elements may stand in a list a thousand times."""

    def variable(self, name: str) -> Type:
        """The type of a variable; any where it is not declared, or declared without one."""
        if name not in self._types:
            block = self._variables.get(name)
            constraint = block.body.attributes.get("type") if block else None
            self._types[name] = _declared_type(constraint.expression) if constraint else ANY
        return self._types[name]

    def local(self, name: str) -> ast.Expression | None:
        """The expression of a local value."""
        attribute = self._locals.get(name)
        return attribute.expression if attribute else None


def _declared_type(expression: ast.Expression) -> Type:
    try:
        return parse_type(expression, lambda _: None)
    except ConversionError:
        return ANY


def mismatch(expression: ast.Expression, wanted: Type, names: Names) -> str:
    """Why an expression cannot be of a type ("a number is required"); empty where it can."""
    return _mismatch(expression, wanted, names, 0)


def _mismatch(expression: ast.Expression, wanted: Type, names: Names, locals_deep: int) -> str:
    if isinstance(expression, ast.Literal):
        return _literal(expression.value, wanted)
    if wanted == ANY:
        return ""
    expression = _bare(expression)
    if isinstance(expression, ast.Literal):
        return _literal(expression.value, wanted)
    if isinstance(expression, ast.Template):
        return "" if wanted in PRIMITIVES else _required(wanted)
    if isinstance(expression, ast.Tuple):
        return _sequence(expression, wanted, names, locals_deep)
    if isinstance(expression, ast.Object):
        return _object(expression, wanted, names, locals_deep)
    if isinstance(expression, ast.GetAttr) and isinstance(expression.target, ast.Name):
        if expression.target.name == "var":
            return "" if _converts(names.variable(expression.name), wanted) else _required(wanted)
        if expression.target.name == "local" and locals_deep < _MOST_LOCALS:
            return _local(expression.name, wanted, names, locals_deep + 1)
    return ""


def _local(name: str, wanted: Type, names: Names, locals_deep: int) -> str:
    key = (name, wanted)
    if key not in names.answers:
        value = names.local(name)
        names.answers[key] = _mismatch(value, wanted, names, locals_deep) if value else ""
    return names.answers[key]


def _bare(expression: ast.Expression) -> ast.Expression:
    """An expression without parentheses and without the quotes of `"${x}"`, which change nothing."""
    while True:
        if isinstance(expression, ast.Parens):
            expression = expression.inner
        elif (
            isinstance(expression, ast.Template)
            and len(expression.parts) == 1
            and isinstance(part := expression.parts[0], ast.Node)
            and not isinstance(part, ast.TemplateIf | ast.TemplateFor)
        ):
            expression = part
        else:
            return expression


def _literal(value: str | int | float | bool | None, wanted: Type) -> str:
    if value is None or wanted in (STRING, ANY) or (wanted == NUMBER and type(value) in (int, float)):
        return ""
    if wanted not in PRIMITIVES:
        return _required(wanted)
    try:
        convert(value, wanted)
    except ConversionError as error:
        return str(error)
    return ""


def _sequence(expression: ast.Tuple, wanted: Type, names: Names, locals_deep: int) -> str:
    if wanted in PRIMITIVES or wanted[0] not in _SEQUENCES:
        return _required(wanted)
    if wanted[0] == "tuple":
        return "" if len(expression.items) == len(wanted[1]) else _required(wanted)
    for number, item in enumerate(expression.items):
        why = _mismatch(item, wanted[1], names, locals_deep)
        if why:
            return f"element {number}: {why}"
    return ""


def _object(expression: ast.Object, wanted: Type, names: Names, locals_deep: int) -> str:
    if wanted in PRIMITIVES or wanted[0] not in _NAMED:
        return _required(wanted)
    given: dict[str, ast.Expression] = {}
    for key, value in expression.items:
        if not isinstance(key, ast.Literal):
            return ""
        given[str(key.value)] = value
    if wanted[0] == "object":
        fields = dict(wanted[1])
        missing = [name for name in fields if name not in given]
        if missing:
            return f"the {'attribute' if len(missing) == 1 else 'attributes'} {', '.join(missing)} must be given"
    else:
        fields = dict.fromkeys(given, wanted[1])
    for name, kind in fields.items():
        why = _mismatch(given[name], kind, names, locals_deep)
        if why:
            return f'element "{name}": {why}'
    return ""


def _converts(given: Type, wanted: Type) -> bool:
    """Whether some value of one type may be converted to another."""
    if ANY in (given, wanted) or wanted == given:
        return True
    if given in PRIMITIVES:
        return wanted in PRIMITIVES and STRING in (given, wanted)
    if wanted in PRIMITIVES:
        return False
    if given[0] in ("list", "set") and wanted[0] in ("list", "set"):
        return _converts(given[1], wanted[1])
    if given[0] == wanted[0] == "map":
        return _converts(given[1], wanted[1])
    return any(given[0] in family and wanted[0] in family for family in (_SEQUENCES, _NAMED))


def _required(wanted: Type) -> str:
    if wanted == NUMBER:
        return "a number is required"
    if wanted in (BOOL, STRING):
        return f"a {wanted} is required"
    name = type_name(wanted)
    return f"a {name if len(name) < 60 else wanted[0]} is required"
