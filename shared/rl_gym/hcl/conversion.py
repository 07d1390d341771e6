"""Types and conversion between them, by Terraform's rules: what `type = list(string)` asks for, what `toset` makes, and
the common type that two arms of a conditional are given.

A type is "string", "number", "bool", "any" (not constrained, or not known), or a tuple: `("list", T)`, `("set", T)`,
`("map", T)`, `("tuple", (T, ...))`, `("object", ((name, T), ...))` with sorted names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from rl_gym.hcl import ast
from rl_gym.hcl.number import NumberRangeError, Real, from_text, rational
from rl_gym.hcl.values import (
    List,
    Map,
    Set,
    Unknown,
    Value,
    described,
    references_of,
    text_of,
)

Type: TypeAlias = Any
ANY = "any"
STRING = "string"
NUMBER = "number"
BOOL = "bool"
PRIMITIVES = frozenset({STRING, NUMBER, BOOL})


class ConversionError(ValueError):
    """A value does not fit a type."""


class Optional:
    """An attribute of an object constraint that may be left out: `optional(T, default)`."""

    __slots__ = ("default", "type")

    def __init__(self, kind: Type, default: Value) -> None:
        self.type = kind
        self.default = default


# ---- the type of a value ---------------------------------------------------------------------------------------------


def type_of(value: Value) -> Type:
    """The type of a value; null and unknown are of any type."""
    kind = type(value)
    if kind is bool:
        return BOOL
    if kind is int or kind is Real:
        return NUMBER
    if isinstance(value, str):
        return STRING
    if kind is List:
        return ("list", _element_type(value))
    if kind is Set:
        return ("set", _element_type(value))
    if kind is Map:
        return ("map", _element_type(value.values()))
    if isinstance(value, list):
        return ("tuple", tuple([type_of(item) for item in value]))
    if isinstance(value, dict):
        return ("object", tuple([(key, type_of(value[key])) for key in sorted(value)]))
    return ANY


def _element_type(items: Iterable[Value]) -> Type:
    found: Type = ANY
    for item in items:
        kind = type_of(item)
        if found == ANY:
            found = kind
        elif kind not in (ANY, found):
            merged = unify([found, kind])
            found = found if merged is None else merged
    return found


def unify(types: Sequence[Type]) -> Type | None:
    """The one type that values of all these types convert to, or None when there is none."""
    distinct = [kind for kind in dict.fromkeys(types) if kind != ANY]
    if len(distinct) < 2:
        return distinct[0] if distinct else ANY
    if all(kind in PRIMITIVES for kind in distinct):
        return STRING if STRING in distinct else None
    if any(kind in PRIMITIVES for kind in distinct):
        return None
    names = {kind[0] for kind in distinct}
    if names == {"object"}:
        return _unify_objects(distinct)
    if names <= {"map", "object"}:
        return _over("map", [inner for kind in distinct for inner in _inner_types(kind)])
    if names == {"tuple"} and len({len(kind[1]) for kind in distinct}) == 1:
        columns = [unify(column) for column in zip(*(kind[1] for kind in distinct), strict=True)]
        if None not in columns:
            return ("tuple", tuple(columns))
        return None
    if names <= {"list", "tuple"}:
        return _over("list", [inner for kind in distinct for inner in _inner_types(kind)])
    if names <= {"set", "list", "tuple"}:
        return _over("set" if "list" not in names else "list", [i for kind in distinct for i in _inner_types(kind)])
    return None


def _unify_objects(types: list[Type]) -> Type | None:
    names = {tuple(name for name, _ in kind[1]) for kind in types}
    if len(names) == 1:
        columns = [
            (column[0][0], unify([kind for _, kind in column]))
            for column in zip(*(kind[1] for kind in types), strict=True)
        ]
        if all(kind is not None for _, kind in columns):
            return ("object", tuple(columns))
        return None
    return _over("map", [inner for kind in types for inner in _inner_types(kind)])


def _over(container: str, inner: list[Type]) -> Type | None:
    element = unify(inner)
    return None if element is None else (container, element)


def _inner_types(kind: Type) -> list[Type]:
    if kind[0] == "object":
        return [inner for _, inner in kind[1]]
    if kind[0] == "tuple":
        return list(kind[1])
    return [kind[1]]


# ---- conversion ------------------------------------------------------------------------------------------------------


def convert(value: Value, to: Type) -> Value:
    """The value as a value of another type; raises ConversionError. Null and unknown fit every type."""
    if value is None or to == ANY or isinstance(value, Unknown):
        return value
    if to == STRING:
        text = text_of(value)
        if text is None:
            raise ConversionError(f"string required, got {described(value)}")
        return text
    if to == NUMBER:
        return to_number(value)
    if to == BOOL:
        return to_bool(value)
    name = to[0]
    if name == "list":
        return List(converted_elements(value, to[1], name))
    if name == "set":
        return make_set(converted_elements(value, to[1], name))
    if name == "map":
        return _to_map(value, to[1])
    if name == "object":
        return _to_object(value, to[1])
    return _to_tuple(value, to[1])


def to_number(value: Value) -> Value:
    kind = type(value)
    if kind is int or kind is Real:
        return value
    if isinstance(value, str):
        try:
            number = from_text(value)
        except NumberRangeError as error:
            raise ConversionError(str(error)) from None
        if number is not None:
            return number
    raise ConversionError("a number is required")


def to_bool(value: Value) -> bool:
    if type(value) is bool:
        return value
    if isinstance(value, str):
        if value in ("true", "1"):
            return True
        if value in ("false", "0"):
            return False
        if value.lower() in ("true", "false"):
            raise ConversionError(f'a bool is required; to convert from string, use lowercase "{value.lower()}"')
    raise ConversionError("a bool is required")


def converted_elements(value: Value, element: Type, container: str) -> list[Value]:
    """The elements of a list, set or tuple, each converted to `element`, or to their common type when it is any."""
    if not isinstance(value, list):
        raise ConversionError(f"{container} of {type_name(element)} required, got {described(value)}")
    if element == ANY:
        return unified(value)
    return [convert(item, element) for item in value]


def unified(values: Sequence[Value]) -> list[Value]:
    """Values converted to their common type; raises ConversionError when they have none."""
    kinds = set(map(type, values))
    if len(kinds) == 1 and kinds <= {str, int, bool}:
        return list(values)
    types = [type_of(value) for value in values]
    common = unify(types)
    if common is None:
        raise ConversionError("all elements must have the same type")
    return [value if kind == common else convert(value, common) for value, kind in zip(values, types, strict=True)]


def _to_map(value: Value, element: Type) -> Map:
    if not isinstance(value, dict):
        raise ConversionError(f"map of {type_name(element)} required, got {described(value)}")
    if element == ANY:
        return Map(zip(value, unified(list(value.values())), strict=True))
    return Map((key, _within(f'element "{key}"', item, element)) for key, item in value.items())


def _to_object(value: Value, attributes: Sequence[tuple[str, Type]]) -> dict[str, Value]:
    if not isinstance(value, dict):
        raise ConversionError(f"object required, got {described(value)}")
    made: dict[str, Value] = {}
    for name, kind in attributes:
        if isinstance(kind, Optional):
            given = value.get(name)
            made[name] = kind.default if given is None else _within(f'attribute "{name}"', given, kind.type)
        elif name in value:
            made[name] = _within(f'attribute "{name}"', value[name], kind)
        else:
            raise ConversionError(f'attribute "{name}" is required')
    return made


def _to_tuple(value: Value, kinds: Sequence[Type]) -> list[Value]:
    if not isinstance(value, list) or len(value) != len(kinds):
        raise ConversionError(f"tuple of {len(kinds)} elements required")
    return [convert(item, kind) for item, kind in zip(value, kinds, strict=True)]


def _within(place: str, value: Value, to: Type) -> Value:
    try:
        return convert(value, to)
    except ConversionError as error:
        raise ConversionError(f"{place}: {error}") from None


# ---- sets ------------------------------------------------------------------------------------------------------------


def make_set(values: Iterable[Value]) -> Value:
    """A set of values of one type; a set with an unknown element is unknown, for nobody knows how many it has."""
    items = list(values)
    if any(isinstance(item, Unknown) for item in items):
        return unknown_set(items)
    distinct: dict[Any, Value] = {}
    for item in items:
        distinct.setdefault(identity(item), item)
    return Set(sorted(distinct.values(), key=_order))


def unknown_set(items: list[Value]) -> Unknown:
    """What a set is while some of its elements are unknown."""
    if len(items) == 1:
        only = items[0]
        return Unknown(only.references, only.same, ambiguous=only.ambiguous, computed=only.computed)
    return Unknown(frozenset().union(*(references_of(item) for item in items)), ambiguous=True)


def identity(value: Value) -> Any:
    """Something hashable that two values of one type share exactly when they are equal."""
    kind = type(value)
    if isinstance(value, str):
        return str(value)
    if kind is bool:
        return (BOOL, value)
    if isinstance(value, list):
        return ("[", *[identity(item) for item in value])
    if isinstance(value, dict):
        return ("{", *[(key, identity(value[key])) for key in sorted(value)])
    if isinstance(value, Unknown):
        return id(value)
    return value


def _order(value: Value) -> tuple[int, Any]:
    """Sort key: strings by code point, numbers by size, false before true, anything else by its written form."""
    if value is None:
        return (2, "")
    if isinstance(value, str):
        return (0, value)
    if type(value) is int or type(value) is Real:
        return (0, rational(value))
    if type(value) is bool:
        return (0, value)
    return (1, _written(value))


def _written(value: Value) -> str:
    """The form by which Terraform orders the members of a set that have no order of their own."""
    if value is None:
        return "~"
    if isinstance(value, str):
        return '"' + value + '"'
    if type(value) is bool:
        return "T" if value else "F"
    if isinstance(value, dict):
        inner = (
            f"{_written(key)}:{_written(value[key])};" if type(value) is Map else f"{_written(value[key])};"
            for key in sorted(value)
        )
        return ("{" if type(value) is Map else "<") + "".join(inner) + ("}" if type(value) is Map else ">")
    if isinstance(value, list):
        opening, closing = ("[", "]") if type(value) is List else ("{", "}") if type(value) is Set else ("<", ">")
        return opening + "".join(f"{_written(item)};" for item in value) + closing
    return text_of(value) or "?"


# ---- equality --------------------------------------------------------------------------------------------------------


def equal(left: Value, right: Value) -> bool | None:
    """Whether two values are equal; None when that depends on something unknown. `1 == "1"` is false."""
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return None
    if left is None or right is None:
        return left is right
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and isinstance(right, str) and str(left) == str(right)
    if type(left) is bool or type(right) is bool:
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        if (type(left) is Map) != (type(right) is Map) or left.keys() != right.keys():
            return False
        return _all_equal((left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        if _sequence(left) is not _sequence(right) or len(left) != len(right):
            return False
        return _all_equal(zip(left, right, strict=True))
    if isinstance(left, (list, dict)) or isinstance(right, (list, dict)):
        return False
    return bool(left == right)


def _sequence(value: list[Value]) -> type:
    kind = type(value)
    return kind if kind in (List, Set) else list


def _all_equal(pairs: Iterable[tuple[Value, Value]]) -> bool | None:
    verdict: bool | None = True
    for left, right in pairs:
        same = equal(left, right)
        if same is False:
            return False
        if same is None:
            verdict = None
    return verdict


# ---- type constraints ------------------------------------------------------------------------------------------------


def type_name(kind: Type) -> str:
    """A type as one would write it."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, Optional):
        return f"optional({type_name(kind.type)})"
    name, inner = kind
    if name == "object":
        return "object({" + ", ".join(f"{key} = {type_name(item)}" for key, item in inner) + "})"
    if name == "tuple":
        return "tuple([" + ", ".join(map(type_name, inner)) + "])"
    return f"{name}({type_name(inner)})"


_LEGACY = {"list": ("list", ANY), "map": ("map", ANY), "set": ("set", ANY)}


def parse_type(expression: ast.Expression, default: Any) -> Type:
    """The type that a `type = ...` argument names; raises ConversionError.

    `default` is called with the expression of an `optional(T, default)` and answers its value.
    """
    if type(expression) is ast.Parens:
        return parse_type(expression.inner, default)
    if isinstance(expression, (ast.Name, ast.Literal)):
        name = expression.name if isinstance(expression, ast.Name) else expression.value
        if name in PRIMITIVES or name == ANY:
            return name
        if name in _LEGACY:
            return _LEGACY[name]
    elif type(expression) is ast.Call:
        return _parse_constructor(expression, default)
    raise ConversionError(
        "a type is one of string, number, bool, any, list(T), set(T), map(T), object({...}), tuple([...])"
    )


def _parse_constructor(call: ast.Call, default: Any) -> Type:
    if call.name in _LEGACY and len(call.args) == 1:
        return (call.name, parse_type(call.args[0], default))
    argument = call.args[0] if len(call.args) == 1 else None
    if call.name == "object" and type(argument) is ast.Object:
        attributes = {_attribute_name(key): _attribute_type(item, default) for key, item in argument.items}
        return ("object", tuple(sorted(attributes.items())))
    if call.name == "tuple" and type(argument) is ast.Tuple:
        return ("tuple", tuple(parse_type(item, default) for item in argument.items))
    raise ConversionError(f"{call.name}(...) is not a type")


def _attribute_name(key: ast.Expression) -> str:
    if type(key) is ast.Literal and isinstance(key.value, str):
        return key.value
    raise ConversionError("an attribute of an object type has a plain name")


def _attribute_type(expression: ast.Expression, default: Any) -> Type:
    if type(expression) is ast.Call and expression.name == "optional" and 1 <= len(expression.args) <= 2:
        kind = parse_type(expression.args[0], default)
        value = default(expression.args[1]) if len(expression.args) == 2 else None
        return Optional(kind, convert(value, kind))
    return parse_type(expression, default)
