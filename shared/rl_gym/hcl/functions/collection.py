"""Functions on lists, sets, tuples, maps and objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from rl_gym.hcl.budget import Budget, NoValueError
from rl_gym.hcl.conversion import (
    ANY,
    NUMBER,
    STRING,
    ConversionError,
    convert,
    equal,
    identity,
    make_set,
    to_bool,
    type_of,
    unified,
    unify,
)
from rl_gym.hcl.functions.registry import ANYTHING, PARTLY_KNOWN, Parameter, function, whole
from rl_gym.hcl.functions.strings import graphemes
from rl_gym.hcl.number import Number, add, rational
from rl_gym.hcl.values import (
    List,
    Map,
    Set,
    Unknown,
    Value,
    described,
    has_unknown,
    sorted_items,
    unknown_from,
)

_LONGEST_RANGE = 1024
"""Terraform's own bound on `range`."""


def _sequence(value: Value, what: str = "a list or tuple") -> list[Value]:
    if isinstance(value, list) and type(value) is not Set:
        return value
    raise NoValueError(f"{what} is required, got {described(value)}")


def _collection(value: Value) -> list[Value]:
    if isinstance(value, list):
        return value
    raise NoValueError(f"a list, set or tuple is required, got {described(value)}")


def _mapping(value: Value) -> dict[str, Value]:
    if isinstance(value, dict):
        return value
    raise NoValueError(f"a map or object is required, got {described(value)}")


def _common(values: Sequence[Value]) -> list[Value]:
    try:
        return unified(values)
    except ConversionError as error:
        raise NoValueError(str(error)) from None


# ---- asking ----------------------------------------------------------------------------------------------------------


@function("length", PARTLY_KNOWN)
def length(value: Value) -> Value:
    if isinstance(value, (list, dict)):
        return len(value)
    if isinstance(value, str):
        return len(graphemes(value))
    if isinstance(value, Unknown):
        return unknown_from([value])
    raise NoValueError(f"a collection or a string is required, got {described(value)}")


@function("contains", PARTLY_KNOWN, PARTLY_KNOWN)
def contains(collection: Value, wanted: Value) -> Value:
    if isinstance(collection, Unknown):
        return unknown_from([collection, wanted])
    unknown = False
    for item in _collection(collection):
        same = equal(item, wanted)
        if same:
            return True
        unknown = unknown or same is None
    return unknown_from([collection, wanted]) if unknown else False


@function("index", PARTLY_KNOWN, PARTLY_KNOWN)
def index(collection: Value, wanted: Value) -> Value:
    if isinstance(collection, Unknown):
        return unknown_from([collection, wanted])
    for place, item in enumerate(_sequence(collection)):
        same = equal(item, wanted)
        if same:
            return place
        if same is None:
            return unknown_from([collection, wanted])
    raise NoValueError("the list does not contain the value")


@function("lookup", PARTLY_KNOWN, STRING, ANYTHING, optional=1)
def lookup(collection: Value, key: Value, *default: Value) -> Value:
    if isinstance(collection, Unknown) or isinstance(key, Unknown):
        return unknown_from([collection, key])
    mapping = _mapping(collection)
    if key in mapping:
        return mapping[key]
    if not default:
        raise NoValueError(f'the given key "{key}" is not in the map')
    if type(mapping) is Map and mapping:
        try:
            return convert(default[0], type_of(mapping)[1])
        except ConversionError as error:
            raise NoValueError(f"the default value must have the type of the map's elements: {error}") from None
    return default[0]


@function("element", PARTLY_KNOWN, NUMBER)
def element(collection: Value, place: Value) -> Value:
    if isinstance(collection, Unknown):
        return collection
    items = _sequence(collection)
    if isinstance(place, Unknown):
        return unknown_from(items)
    number = whole(place)
    if not items:
        raise NoValueError("an empty list has no elements")
    wrapped = abs(number) % len(items)
    if number < 0 and wrapped:
        raise NoValueError("the index must not be negative")
    return items[wrapped]


@function("one", PARTLY_KNOWN)
def one(collection: Value) -> Value:
    if isinstance(collection, Unknown):
        return collection
    items = _collection(collection)
    if len(items) > 1:
        raise NoValueError("a collection of no or one element is required")
    return items[0] if items else None


@function("alltrue", PARTLY_KNOWN)
def alltrue(collection: Value) -> Value:
    return _decided(collection, decisive=False)


@function("anytrue", PARTLY_KNOWN)
def anytrue(collection: Value) -> Value:
    return _decided(collection, decisive=True)


def _decided(collection: Value, *, decisive: bool) -> Value:
    if isinstance(collection, Unknown):
        return collection
    unknown = False
    for item in _collection(collection):
        if isinstance(item, Unknown):
            unknown = True
        elif (False if item is None else to_bool(item)) is decisive:
            return decisive
    return unknown_from([collection]) if unknown else not decisive


@function("coalesce", variadic=ANYTHING)
def coalesce(*values: Value) -> Value:
    types = [type_of(value) for value in values]
    common = unify(types)
    if common is None:
        if ANY not in types:
            raise NoValueError("all arguments must have the same type")
        common = ANY
    for place, value in enumerate(values):
        if isinstance(value, Unknown):
            return value if place + 1 == len(values) else unknown_from(values[place:])
        if value is not None and value != "":
            return value if has_unknown(value) else convert(value, common)
    raise NoValueError("no argument is neither null nor an empty string")


@function("coalescelist", variadic=ANYTHING)
def coalescelist(*lists: Value) -> Value:
    for place, items in enumerate(lists):
        if isinstance(items, Unknown):
            return unknown_from(lists[place:])
        if items is None:
            raise NoValueError("an argument must not be null")
        if _sequence(items):
            return items
    raise NoValueError("no argument is a list that holds something")


@function("sum", Parameter(ANY))
def total(numbers: Value) -> Number:
    items = _collection(numbers)
    if not items:
        raise NoValueError("the list must not be empty")
    result: Number = 0
    for item in items:
        if item is None:
            raise NoValueError("every element must be a number")
        result = add(result, convert(item, NUMBER))
    return result


# ---- putting together ------------------------------------------------------------------------------------------------


@function("concat", PARTLY_KNOWN, variadic=PARTLY_KNOWN, budgeted=True)
def concat(budget: Budget, *lists: Value) -> Value:
    if any(isinstance(items, Unknown) for items in lists):
        return unknown_from(lists)
    size = sum(len(_sequence(items)) for items in lists)
    budget.items(size)
    joined: list[Value] = []
    for items in lists:
        joined += items
    if all(type(items) is List for items in lists):
        return List(_common(joined))
    return joined


@function("merge", variadic=ANYTHING, budgeted=True)
def merge(budget: Budget, *maps: Value) -> Value:
    if any(isinstance(item, Unknown) for item in maps):
        return unknown_from(maps)
    given = [_mapping(item) for item in maps if item is not None]
    budget.items(sum(map(len, given)))
    merged: dict[str, Value] = {}
    for item in given:
        merged.update(item)
    if given and all(type(item) is Map for item in given) and len(set(map(type_of, given))) == 1:
        return Map(merged)
    return merged


@function("flatten", PARTLY_KNOWN, budgeted=True)
def flatten(budget: Budget, value: Value) -> Value:
    if isinstance(value, Unknown):
        return value
    flat: list[Value] = []
    pending = [iter(_collection(value))]
    while pending:
        for item in pending[-1]:
            budget.spend(1)
            if isinstance(item, list):
                pending.append(iter(item))
                break
            flat.append(item)
        else:
            pending.pop()
    budget.items(len(flat))
    return flat


@function("setproduct", PARTLY_KNOWN, PARTLY_KNOWN, variadic=PARTLY_KNOWN, budgeted=True)
def setproduct(budget: Budget, *collections: Value) -> Value:
    if any(isinstance(items, Unknown) for items in collections):
        return unknown_from(collections)
    size = math.prod(len(_collection(items)) for items in collections)
    if not size:
        return List()
    columns = [_common(items) for items in collections]
    budget.items(size * len(columns))
    rows = [list(row) for row in product(*columns)]
    if any(type(items) is Set for items in collections):
        return make_set(rows)
    return List(rows)


@function("setunion", PARTLY_KNOWN, variadic=PARTLY_KNOWN, budgeted=True)
def setunion(budget: Budget, *sets: Value) -> Value:
    if any(has_unknown(items) for items in sets):
        return unknown_from(sets)
    joined = [item for items in sets for item in _collection(items)]
    budget.items(len(joined))
    return make_set(_common(joined))


@function("setintersection", ANY, variadic=ANY, budgeted=True)
def setintersection(budget: Budget, *sets: Value) -> Value:
    first, *others = _same_type(budget, sets)
    for other in others:
        kept = {identity(item) for item in other}
        first = [item for item in first if identity(item) in kept]
    return make_set(first)


@function("setsubtract", ANY, ANY, budgeted=True)
def setsubtract(budget: Budget, first: Value, second: Value) -> Value:
    left, right = _same_type(budget, (first, second))
    dropped = {identity(item) for item in right}
    return make_set([item for item in left if identity(item) not in dropped])


def _same_type(budget: Budget, sets: Sequence[Value]) -> list[list[Value]]:
    """The members of several sets, all converted to one type."""
    sizes = [len(_collection(items)) for items in sets]
    budget.items(sum(sizes))
    joined = iter(_common([item for items in sets for item in items]))
    return [[next(joined) for _ in range(size)] for size in sizes]


@function("zipmap", PARTLY_KNOWN, PARTLY_KNOWN)
def zipmap(keys: Value, values: Value) -> Value:
    if isinstance(values, Unknown) or has_unknown(keys):
        return unknown_from([keys, values])
    names = [convert(key, STRING) for key in _sequence(keys)]
    items = _sequence(values)
    if len(names) != len(items):
        raise NoValueError(f"{len(names)} keys and {len(items)} values: there must be as many of each")
    if None in names:
        raise NoValueError("a key must not be null")
    pairs = zip(names, items, strict=True)
    return Map(pairs) if type(values) is List else dict(pairs)


# ---- choosing and arranging ------------------------------------------------------------------------------------------


@function("keys", PARTLY_KNOWN)
def keys(value: Value) -> Value:
    if isinstance(value, Unknown):
        return unknown_from([value])
    names = sorted(_mapping(value))
    return List(names) if type(value) is Map else names


@function("values", PARTLY_KNOWN)
def values(value: Value) -> Value:
    if isinstance(value, Unknown):
        return value
    items = [item for _, item in sorted_items(_mapping(value))]
    return List(items) if type(value) is Map else items


@function("distinct", Parameter(("list", ANY)), budgeted=True)
def distinct(budget: Budget, items: Value) -> Value:
    for _ in range(3):
        budget.value(items)
    first: dict[Any, Value] = {}
    for item in items:
        first.setdefault(identity(item), item)
    return List(first.values())


@function("compact", Parameter(("list", STRING)))
def compact(items: Value) -> Value:
    return List(item for item in items if item)


@function("slice", PARTLY_KNOWN, NUMBER, NUMBER)
def slice_of(collection: Value, start: Value, end: Value) -> Value:
    if any(isinstance(value, Unknown) for value in (collection, start, end)):
        return unknown_from([collection])
    items = _sequence(collection)
    first, last = whole(start), whole(end)
    if not 0 <= first <= last <= len(items):
        raise NoValueError(f"{first} to {last} is not a part of a list of {len(items)} elements")
    return type(items)(items[first:last])


@function("chunklist", Parameter(("list", ANY), unknown=True), NUMBER)
def chunklist(items: Value, size: Value) -> Value:
    if isinstance(items, Unknown) or isinstance(size, Unknown):
        return unknown_from([items])
    width = whole(size)
    if width < 0:
        raise NoValueError("the size must not be negative")
    width = width or max(1, len(items))
    return List(List(items[at : at + width]) for at in range(0, len(items), width))


@function("sort", Parameter(("list", STRING)))
def sort(items: Value) -> List:
    if None in items:
        raise NoValueError("a null element cannot be sorted")
    return List(sorted(items))


@function("reverse", PARTLY_KNOWN)
def reverse(collection: Value) -> Value:
    if isinstance(collection, Unknown):
        return unknown_from([collection])
    items = _collection(collection)
    backwards = list(reversed(items))
    return List(backwards) if type(items) in (List, Set) else backwards


@function("matchkeys", ANY, ANY, ANY)
def matchkeys(values: Value, keys: Value, wanted: Value) -> List:
    items, names = _collection(values), _collection(keys)
    if len(items) != len(names):
        raise NoValueError("there must be as many keys as values")
    joined = _common([*names, *_collection(wanted)])
    kept = {identity(item) for item in joined[len(names) :]}
    names = joined[: len(names)]
    return List(_common([item for item, name in zip(items, names, strict=True) if identity(name) in kept]))


@function("transpose", Parameter(("map", ("list", STRING))))
def transpose(lists: dict[str, list[Any]]) -> Map:
    turned: dict[str, list[str]] = {}
    for key in sorted(lists):
        for item in lists[key] or ():
            turned.setdefault(item, []).append(key)
    return Map((item, List(turned[item])) for item in sorted(turned))


@function("range", NUMBER, NUMBER, NUMBER, optional=2, budgeted=True)
def numbers(budget: Budget, *bounds: Number) -> List:
    start, limit = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    at, end = rational(start), rational(limit)
    down = end < at
    step = rational(bounds[2]) if len(bounds) == 3 else (-1 if down else 1)
    if step == 0 or (at != end and (step < 0) != down):
        raise NoValueError("the step must lead from the start to the limit")
    count = math.ceil((end - at) / step)
    if count > _LONGEST_RANGE:
        raise NoValueError(f"more than {_LONGEST_RANGE} values were generated; use a larger step or a smaller limit")
    budget.items(count)
    out = List()
    current: Number = start
    for _ in range(count):
        out.append(current)
        current = add(current, bounds[2] if len(bounds) == 3 else int(step))
    return out
