"""How a Terraform function is declared: its parameters' types, and what it makes of nulls and unknowns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rl_gym.hcl.budget import Budget, NoValueError
from rl_gym.hcl.conversion import ANY, ConversionError, Type, convert
from rl_gym.hcl.number import NumberRangeError
from rl_gym.hcl.values import (
    NO_REFERENCES,
    Origin,
    UnknownText,
    Value,
    references_of,
    unknown_from,
    with_origin,
)

Body = Callable[..., Value]
_CHARACTERS_PER_STEP = 256
"""Functions look at text many characters at a time."""


class Parameter:
    """One parameter. `null` lets null in; with `unknown` the function itself sees to values that are not known."""

    __slots__ = ("null", "type", "unknown")

    def __init__(self, kind: Type = ANY, *, null: bool = False, unknown: bool = False) -> None:
        self.type = kind
        self.null = null
        self.unknown = unknown


class Function:
    """A function of the language; `budgeted` ones take the Budget before their arguments."""

    __slots__ = ("body", "budgeted", "name", "optional", "parameters", "variadic")

    def __init__(
        self,
        name: str,
        parameters: Sequence[Parameter],
        body: Body,
        *,
        optional: int,
        variadic: Parameter | None,
        budgeted: bool,
    ) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self.body = body
        self.optional = optional
        self.variadic = variadic
        self.budgeted = budgeted

    def __call__(self, budget: Budget, arguments: Sequence[Value]) -> Value:
        """The function's answer; raises NoValueError when it has none."""
        given = len(arguments)
        if given < len(self.parameters) - self.optional or (self.variadic is None and given > len(self.parameters)):
            raise NoValueError(f'function "{self.name}" takes {self._arity()}, and got {given}')
        converted: list[Value] = []
        unknown = False
        for place, argument in enumerate(arguments):
            parameter = self.parameters[place] if place < len(self.parameters) else self.variadic
            assert parameter is not None
            if parameter.unknown:
                budget.spend(len(argument) if isinstance(argument, (list, dict)) else 1)
            elif budget.value(argument):
                unknown = True
            if isinstance(argument, str):
                budget.spend(len(argument) // (_CHARACTERS_PER_STEP if argument.isascii() else 1))
            converted.append(self._argument(place, argument, parameter))
        if unknown:
            return unknown_from(arguments)
        try:
            answer = self.body(budget, *converted) if self.budgeted else self.body(*converted)
        except (ConversionError, NumberRangeError, NoValueError) as error:
            raise NoValueError(f'call to function "{self.name}" failed: {error}') from None
        if type(answer) is str:
            budget.text(len(answer))
            return _remembering(answer, arguments)
        if isinstance(answer, UnknownText):
            budget.value(answer)
        return answer

    def _argument(self, place: int, argument: Value, parameter: Parameter) -> Value:
        if argument is None:
            if parameter.null:
                return None
            raise NoValueError(f'call to function "{self.name}" failed: argument {place + 1} must not be null')
        if parameter.type == ANY:
            return argument
        try:
            return convert(argument, parameter.type)
        except ConversionError as error:
            raise NoValueError(f'call to function "{self.name}" failed: argument {place + 1}: {error}') from None

    def _arity(self) -> str:
        most = len(self.parameters)
        least = most - self.optional
        if self.variadic is not None:
            return f"at least {least} arguments"
        return f"{least} to {most} arguments" if self.optional else f"{most} arguments"


def _remembering(answer: str, arguments: Sequence[Value]) -> str:
    """A string made from strings that were read from resources still says from which."""
    references = NO_REFERENCES
    for argument in arguments:
        if type(argument) is Origin or isinstance(argument, list):
            references |= references_of(argument)
    return with_origin(answer, references) if references else answer


FUNCTIONS: dict[str, Function] = {}


def function(
    name: str,
    *parameters: Type | Parameter,
    optional: int = 0,
    variadic: Type | Parameter | None = None,
    budgeted: bool = False,
) -> Callable[[Body], Body]:
    """Register a function; the last `optional` parameters may be left out."""

    def register(body: Body) -> Body:
        FUNCTIONS[name] = Function(
            name,
            [_parameter(item) for item in parameters],
            body,
            optional=optional,
            variadic=None if variadic is None else _parameter(variadic),
            budgeted=budgeted,
        )
        return body

    return register


def _parameter(spec: Any) -> Parameter:
    return spec if isinstance(spec, Parameter) else Parameter(spec)


def unpredictable(*names: str) -> None:
    """Register functions whose answer depends on more than the configuration: files, time, chance, keys."""
    for name in names:
        FUNCTIONS[name] = Function(
            name,
            (),
            lambda *arguments: unknown_from(arguments),
            optional=0,
            variadic=Parameter(ANY, null=True, unknown=True),
            budgeted=False,
        )


def find(name: str) -> Function | None:
    """The function of this name; None for a provider's own (`provider::aws::...`), which only the provider can call.

    Raises NoValueError when Terraform has no such function.
    """
    found = FUNCTIONS.get(name)
    if found is not None:
        return found
    if name.startswith("provider::"):
        return None
    bare = name.removeprefix("core::")
    if bare != name and bare in FUNCTIONS:
        return FUNCTIONS[bare]
    from difflib import get_close_matches  # only a mistake pays for loading it

    near = get_close_matches(name, [*FUNCTIONS, "try", "can"], n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    raise NoValueError(f'there is no function named "{name}"{hint}')


def whole(number: Value) -> int:
    """A number that counts something; raises NoValueError when it has a fraction."""
    if type(number) is int:
        return number
    raise NoValueError("a whole number is required")


ANYTHING = Parameter(ANY, null=True, unknown=True)
"""A parameter that takes whatever comes."""
PARTLY_KNOWN = Parameter(ANY, unknown=True)
"""A parameter that takes a value with unknown parts, or an unknown value, but no null."""
