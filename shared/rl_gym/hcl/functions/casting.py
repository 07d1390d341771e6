"""Functions that change a value's type or how it is treated."""

from __future__ import annotations

from rl_gym.hcl.conversion import ANY, BOOL, NUMBER, STRING, Type, convert
from rl_gym.hcl.functions.registry import ANYTHING, function, unpredictable
from rl_gym.hcl.values import Unknown, Value


def _register(name: str, to: Type) -> None:
    @function(name, ANYTHING)
    def cast(value: Value) -> Value:
        return convert(value, to)


_register("tostring", STRING)
_register("tonumber", NUMBER)
_register("tobool", BOOL)
_register("tolist", ("list", ANY))
_register("toset", ("set", ANY))
_register("tomap", ("map", ANY))


@function("sensitive", ANYTHING)
def sensitive(value: Value) -> Value:
    return value


@function("nonsensitive", ANYTHING)
def nonsensitive(value: Value) -> Value:
    return value


@function("ephemeralasnull", ANYTHING)
def ephemeralasnull(value: Value) -> Value:
    return value if value is None else Unknown()


unpredictable("issensitive")
