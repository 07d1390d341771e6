"""Expressions to values, by Terraform's rules, with three kinds of answer: known, unknown and null."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from rl_gym.hcl import ast, functions, number
from rl_gym.hcl.budget import Budget, LimitExceededError, NoValueError
from rl_gym.hcl.conversion import ConversionError, convert, equal, to_bool, to_number, type_of, unify
from rl_gym.hcl.errors import HclEvaluationError, HclLimitError
from rl_gym.hcl.number import Number, NumberRangeError, from_text, rational
from rl_gym.hcl.tracing import Step, traversal, weight
from rl_gym.hcl.values import (
    SCALARS,
    BlockObject,
    Set,
    Unknown,
    Value,
    Whole,
    computed,
    described,
    has_unknown,
    joined,
    references_of,
    sorted_items,
    text_of,
    unknown_from,
)

Names: TypeAlias = Mapping[str, Value]
"""What `each`, `count`, a for-expression or a dynamic block calls by name."""
NO_NAMES: Names = {}
ITEM = "*"
"""The name of the element that a splat is looking at."""


class CycleError(HclEvaluationError):
    """Something is defined by itself. `try` does not catch it, as Terraform finds it before evaluating."""


class Scope(ABC):
    """Where an expression stands: what its names mean, and what evaluating it may cost."""

    budget: Budget

    @abstractmethod
    def refer(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        """The value of a traversal whose root is no local name; raises HclEvaluationError."""


def evaluate(scope: Scope, node: ast.Expression, names: Names = NO_NAMES) -> Value:
    """The value of an expression; raises HclEvaluationError or HclLimitError."""
    return _EVALUATE[type(node)](scope, node, names)


def failed(node: ast.Node, message: object) -> HclEvaluationError:
    line, column = node.source.position(node.start)
    return HclEvaluationError(str(message), filename=node.source.filename, line=line, column=column)


def exceeded(node: ast.Node, error: LimitExceededError) -> HclLimitError:
    line, column = node.source.position(node.start)
    found = HclLimitError(str(error), filename=node.source.filename, line=line, column=column)
    if error.limit:
        # For who calls this from Python: nobody else can raise a bound.
        found.add_note(f"raise Limits.{error.limit} if it is meant")
    return found


# ---- literals and templates ------------------------------------------------------------------------------------------


def _literal(scope: Scope, node: ast.Literal, names: Names) -> Value:
    value = node.value
    return written_number(node) if type(value) is float else value


def written_number(node: ast.Literal) -> Number:
    """A fraction as it was written, which a float does not hold."""
    text, at = node.source.text, node.start
    end = at
    while end < len(text) and (
        text[end].isalnum() or text[end] == "." or (text[end] in "+-" and text[end - 1] in "eE")
    ):
        end += 1
    value = from_text(text[at:end])
    return from_text(repr(node.value)) or 0 if value is None else value


def _template(scope: Scope, node: ast.Template, names: Names) -> Value:
    parts = node.parts
    if len(parts) == 1:
        only = parts[0]
        if not isinstance(only, (str, ast.TemplateIf, ast.TemplateFor)):
            return _EVALUATE[type(only)](scope, only, names)
    pieces: list[str | Unknown] = []
    _pieces(scope, parts, names, pieces)
    try:
        text = joined(pieces)
        if isinstance(text, str):
            scope.budget.text(len(text))
        else:
            scope.budget.value(text)
    except LimitExceededError as limit:
        raise exceeded(node, limit) from None
    return text


def _pieces(scope: Scope, parts: Sequence[ast.TemplatePart], names: Names, out: list[str | Unknown]) -> None:
    for part in parts:
        if isinstance(part, str):
            out.append(part)
        elif type(part) is ast.TemplateIf:
            _template_if(scope, part, names, out)
        elif type(part) is ast.TemplateFor:
            _template_for(scope, part, names, out)
        else:
            value = _EVALUATE[type(part)](scope, part, names)
            if isinstance(value, Unknown):
                out.append(value)
                continue
            text = text_of(value)
            if text is None:
                raise failed(part, f"a string template cannot include {described(value)}")
            out.append(text)


def _template_if(scope: Scope, node: ast.TemplateIf, names: Names, out: list[str | Unknown]) -> None:
    condition = _condition(scope, node.condition, names)
    if not isinstance(condition, Unknown):
        _pieces(scope, node.then if condition else node.otherwise, names, out)
        return
    either: list[str | Unknown] = []
    _pieces(scope, node.then, names, either)
    _pieces(scope, node.otherwise, names, either)
    out.append(unknown_from([condition, *either]))


def _template_for(scope: Scope, node: ast.TemplateFor, names: Names, out: list[str | Unknown]) -> None:
    collection = _EVALUATE[type(node.collection)](scope, node.collection, names)
    if isinstance(collection, Unknown):
        out.append(unknown_from([collection]))
        return
    inner = dict(names)
    size = 3 + weight(node.body)
    for key, value in _entries(node, collection):
        _spend(scope, node, size)
        if node.key is not None:
            inner[node.key] = key
        inner[node.value] = value
        _pieces(scope, node.body, inner, out)


# ---- collections -----------------------------------------------------------------------------------------------------


def _tuple(scope: Scope, node: ast.Tuple, names: Names) -> Value:
    return [_EVALUATE[type(item)](scope, item, names) for item in node.items]


def _object(scope: Scope, node: ast.Object, names: Names) -> Value:
    made: dict[str, Value] = {}
    unknown: list[Value] | None = None
    for key_node, item in node.items:
        key = _EVALUATE[type(key_node)](scope, key_node, names)
        value = _EVALUATE[type(item)](scope, item, names)
        if type(key) is not str:
            if isinstance(key, Unknown):
                unknown = [*(unknown or ()), key, value]
                continue
            text = text_of(key)
            if text is None:
                raise failed(key_node, f"a key of an object must be a string, not {described(key)}")
            key = str(text)
        made[key] = value
    return made if unknown is None else unknown_from([*unknown, made])


def _for(scope: Scope, node: ast.ForExpression, names: Names) -> Value:
    collection = _EVALUATE[type(node.collection)](scope, node.collection, names)
    if isinstance(collection, Unknown):
        return unknown_from([collection])
    inner = dict(names)
    size = 1 + weight(node.result_value, node.condition, node.result_key)
    out: list[Value] = []
    keyed: dict[str, Value] = {}
    for key, value in _entries(node, collection):
        _spend(scope, node, size)
        if node.key is not None:
            inner[node.key] = key
        inner[node.value] = value
        if node.condition is not None:
            wanted = _condition(scope, node.condition, inner)
            if isinstance(wanted, Unknown):
                return unknown_from([wanted, collection])
            if not wanted:
                continue
        if node.result_key is None:
            out.append(_EVALUATE[type(node.result_value)](scope, node.result_value, inner))
            continue
        name = _EVALUATE[type(node.result_key)](scope, node.result_key, inner)
        item = _EVALUATE[type(node.result_value)](scope, node.result_value, inner)
        if isinstance(name, Unknown):
            return unknown_from([name, item, collection])
        _keep(node, keyed, name, item)
    return out if node.result_key is None else keyed


def _keep(node: ast.ForExpression, made: dict[str, Value], name: Value, item: Value) -> None:
    assert node.result_key is not None
    text = text_of(name)
    if text is None:
        raise failed(node.result_key, f"a key must be a string, not {described(name)}")
    key = str(text)
    if node.group:
        made.setdefault(key, []).append(item)
    elif key in made:
        raise failed(node.result_key, f'two different items produced the key "{key[:60]}"; add "..." to group them')
    else:
        made[key] = item


def _entries(node: ast.ForExpression | ast.TemplateFor, collection: Value) -> Iterator[tuple[Value, Value]]:
    """Keys and values in Terraform's order; the key of a set's member is the member."""
    if isinstance(collection, list):
        if type(collection) is Set:
            return zip(collection, collection, strict=True)
        return enumerate(collection)
    if isinstance(collection, dict):
        return iter(sorted_items(collection))
    raise failed(node.collection, f"a list, set, map or object is required here, got {described(collection)}")


# ---- traversals ------------------------------------------------------------------------------------------------------


def _name(scope: Scope, node: ast.Name, names: Names) -> Value:
    if node.name in names:
        return names[node.name]
    return scope.refer(node, (), names)


def _traversal(scope: Scope, node: Step, names: Names) -> Value:
    root, steps = traversal(node)
    if type(root) is ast.Name and root.name not in names:
        return scope.refer(root, steps, names)
    return follow(scope, _EVALUATE[type(root)](scope, root, names), steps, names)


def follow(scope: Scope, value: Value, steps: Sequence[Step], names: Names) -> Value:
    """The value at the end of a path of attributes and indexes."""
    for step in steps:
        if type(step) is ast.GetAttr:
            value = attribute(value, step.name, step)
        else:
            key = _EVALUATE[type(step.key)](scope, step.key, names)  # type: ignore[union-attr]
            if isinstance(key, Unknown) and isinstance(value, (list, dict)):
                _walk(scope, step, value)
            value = element(value, key, step)
    return value


def attribute(value: Value, name: str, node: ast.Node) -> Value:
    """`value.name`"""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        if type(value) is BlockObject:
            return computed(value.reference).part(name)
        raise failed(node, f'there is no attribute or key "{name}" here')
    if isinstance(value, Unknown):
        return value.read(name) if type(value) is Whole else value.part(name)
    if isinstance(value, list) and value and type(value) is not Set:
        raise failed(node, f"a list has no attributes; did you mean [0].{name} or [*].{name}?")
    raise failed(node, f"{described(value)} has no attributes")


def element(value: Value, key: Value, node: ast.Node) -> Value:
    """`value[key]`"""
    if isinstance(key, Unknown):
        found = references_of(value) | key.references
        return Unknown(found, ambiguous=len(found) > 1)
    if isinstance(value, Unknown):
        if type(value) is Whole and isinstance(key, str):
            return value.read(key)
        return value.part(text_of(key) or "*")
    if isinstance(value, dict):
        text = text_of(key)
        if text is None:
            raise failed(node, f"a map is indexed by a string, not by {described(key)}")
        return attribute(value, text, node)
    if isinstance(value, list) and type(value) is not Set:
        try:
            place = to_number(key)
        except ConversionError:
            raise failed(node, "a list is indexed by a whole number") from None
        if type(place) is not int or not 0 <= place < len(value):
            raise failed(node, f"the index {text_of(key)} is not in a list of {len(value)} elements")
        return value[place]
    raise failed(node, f"{described(value)} cannot be indexed")


def _splat(scope: Scope, node: ast.Splat, names: Names) -> Value:
    target = _EVALUATE[type(node.target)](scope, node.target, names)
    if target is None:
        return []
    inner = dict(names)
    each = node.each
    evaluate_each = _EVALUATE[type(each)]
    if isinstance(target, Unknown) and type(target) is not Whole:
        inner[ITEM] = target
        value = evaluate_each(scope, each, inner)
        return value if isinstance(value, Unknown) else unknown_from([target, value])
    items = target if isinstance(target, list) else [target]
    _spend(scope, node, len(items))
    out = []
    for item in items:
        inner[ITEM] = item
        out.append(evaluate_each(scope, each, inner))
    return out


def _splat_item(scope: Scope, node: ast.SplatItem, names: Names) -> Value:
    return names[ITEM]


# ---- operators -------------------------------------------------------------------------------------------------------


def _parens(scope: Scope, node: ast.Parens, names: Names) -> Value:
    return _EVALUATE[type(node.inner)](scope, node.inner, names)


def _unary(scope: Scope, node: ast.Unary, names: Names) -> Value:
    value = _EVALUATE[type(node.operand)](scope, node.operand, names)
    if isinstance(value, Unknown):
        return unknown_from([value])
    try:
        return not to_bool(value) if node.operator == "!" else number.negate(to_number(value))
    except ConversionError as error:
        raise failed(node.operand, error) from None


def _binary(scope: Scope, node: ast.Binary, names: Names) -> Value:
    left = _EVALUATE[type(node.left)](scope, node.left, names)
    right = _EVALUATE[type(node.right)](scope, node.right, names)
    operator = node.operator
    if operator == "==" or operator == "!=":
        for operand in (left, right, left):
            _walk(scope, node, operand)
        same = equal(left, right)
        if same is None:
            return unknown_from([left, right])
        return same is (operator == "==")
    if type(left) is int and type(right) is int and operator in _NATIVE:
        answer = _NATIVE[operator](left, right)
        return answer if -_LARGE < answer < _LARGE else number.rounded(answer)
    to_operand = to_bool if operator in _LOGIC else to_number
    first = _operand(to_operand, left, node.left)
    second = _operand(to_operand, right, node.right)
    if isinstance(first, Unknown) or isinstance(second, Unknown):
        return unknown_from([first, second])
    try:
        return _OPERATORS[operator](first, second)
    except ZeroDivisionError:
        raise failed(node, "division by zero") from None
    except NumberRangeError as error:
        raise exceeded(node, LimitExceededError(str(error))) from None


def _operand(to_operand: Callable[[Value], Value], value: Value, node: ast.Expression) -> Value:
    if isinstance(value, Unknown):
        return value
    try:
        return to_operand(value)
    except ConversionError as error:
        raise failed(node, f"unsuitable value for this operand: {error}") from None


_LARGE = 1 << number.PRECISION
_NATIVE: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "<": int.__lt__,
    ">": int.__gt__,
    "<=": int.__le__,
    ">=": int.__ge__,
}
"""What whole numbers do the same way in Python."""
_LOGIC = frozenset({"&&", "||"})
_OPERATORS: dict[str, Callable[[Any, Any], Value]] = {
    "&&": lambda left, right: left and right,
    "||": lambda left, right: left or right,
    "<": lambda left, right: rational(left) < rational(right),
    ">": lambda left, right: rational(left) > rational(right),
    "<=": lambda left, right: rational(left) <= rational(right),
    ">=": lambda left, right: rational(left) >= rational(right),
    "+": number.add,
    "-": number.subtract,
    "*": number.multiply,
    "/": number.divide,
    "%": number.remainder,
}


def _condition(scope: Scope, node: ast.Expression, names: Names) -> bool | Unknown:
    value = _EVALUATE[type(node)](scope, node, names)
    if isinstance(value, Unknown):
        return value
    try:
        return to_bool(value)
    except ConversionError as error:
        raise failed(node, f"the condition: {error}") from None


def _conditional(scope: Scope, node: ast.Conditional, names: Names) -> Value:
    condition = _condition(scope, node.condition, names)
    if isinstance(condition, Unknown):
        return _either(scope, node, names, condition)
    taken, other = (node.then, node.otherwise) if condition else (node.otherwise, node.then)
    value = _EVALUATE[type(taken)](scope, taken, names)
    # The arm that is not taken has a say in the type, and may be the one that closes a cycle.
    spare = _tolerant(scope, other, names)
    if type(value) is type(spare) and type(value) in SCALARS:
        return value
    return _same_type(scope, node, value, spare)


_FAILED = object()


def _tolerant(scope: Scope, node: ast.Expression, names: Names) -> Any:
    try:
        return _EVALUATE[type(node)](scope, node, names)
    except CycleError:
        raise
    except HclEvaluationError:
        return _FAILED


def _same_type(scope: Scope, node: ast.Conditional, value: Value, other: Any) -> Value:
    if value is None or other is None or other is _FAILED or isinstance(value, Unknown) or isinstance(other, Unknown):
        return value
    _walk(scope, node, value)
    _walk(scope, node, other)
    mine, theirs = type_of(value), type_of(other)
    if mine == theirs:
        return value
    common = unify([mine, theirs])
    if common is None:
        raise failed(node, "the two results of a conditional must have one type")
    return convert(value, common)


def _either(scope: Scope, node: ast.Conditional, names: Names, condition: Unknown) -> Value:
    """What is known of a conditional whose condition is not: its value when both arms agree."""
    arms = [arm for arm in (_tolerant(scope, n, names) for n in (node.then, node.otherwise)) if arm is not _FAILED]
    if not arms:
        return _EVALUATE[type(node.then)](scope, node.then, names)
    if len(arms) == 2 and equal(arms[0], arms[1]):
        return arms[0]
    found = references_of(arms) | condition.references
    return Unknown(found, ambiguous=not (len(arms) == 1 or None in arms))


# ---- calls -----------------------------------------------------------------------------------------------------------


def _call(scope: Scope, node: ast.Call, names: Names) -> Value:
    name = node.name
    if name == "try":
        return _try(scope, node, names)
    if name == "can":
        return _can(scope, node, names)
    arguments = [_EVALUATE[type(argument)](scope, argument, names) for argument in node.args]
    try:
        function = functions.find(name)
        if node.expand:
            last = arguments.pop()
            if isinstance(last, Unknown):
                return unknown_from([*arguments, last])
            if not isinstance(last, list):
                raise NoValueError('only a list, set or tuple can be followed by "..."')
            arguments += last
        if function is None:
            return unknown_from(arguments)
        return function(scope.budget, arguments)
    except NoValueError as failure:
        raise failed(node, failure) from None
    except LimitExceededError as limit:
        raise exceeded(node, limit) from None


def _try(scope: Scope, node: ast.Call, names: Names) -> Value:
    first: HclEvaluationError | None = None
    for argument in node.args:
        try:
            return _EVALUATE[type(argument)](scope, argument, names)
        except CycleError:
            raise
        except HclEvaluationError as error:
            first = first or error
    raise failed(node, "try() has no argument that evaluates" + (f": {first.message}" if first else ""))


def _can(scope: Scope, node: ast.Call, names: Names) -> Value:
    if len(node.args) != 1:
        raise failed(node, "can() takes one argument")
    value = _tolerant(scope, node.args[0], names)
    if value is _FAILED:
        return False
    return unknown_from([value]) if has_unknown(value) else True


# ---- costs -----------------------------------------------------------------------------------------------------------


def _walk(scope: Scope, node: ast.Node, value: Value) -> None:
    if isinstance(value, (list, dict)):
        try:
            scope.budget.value(value)
        except LimitExceededError as limit:
            raise exceeded(node, limit) from None


def _spend(scope: Scope, node: ast.Node, steps: int) -> None:
    try:
        scope.budget.spend(steps)
    except LimitExceededError as limit:
        raise exceeded(node, limit) from None


_EVALUATE: dict[Any, Callable[[Scope, Any, Names], Value]] = {
    ast.Literal: _literal,
    ast.Template: _template,
    ast.Tuple: _tuple,
    ast.Object: _object,
    ast.ForExpression: _for,
    ast.Call: _call,
    ast.Name: _name,
    ast.GetAttr: _traversal,
    ast.Index: _traversal,
    ast.Splat: _splat,
    ast.SplatItem: _splat_item,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.Conditional: _conditional,
    ast.Parens: _parens,
}
