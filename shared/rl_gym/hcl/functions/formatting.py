"""`format` and `formatlist`: the verbs and flags of Terraform's own printf."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from rl_gym.hcl.budget import Budget, LimitExceededError, NoValueError
from rl_gym.hcl.conversion import STRING, ConversionError, to_bool, to_number
from rl_gym.hcl.functions.encoding import json_text
from rl_gym.hcl.functions.registry import ANYTHING, Parameter, function
from rl_gym.hcl.functions.strings import graphemes
from rl_gym.hcl.number import Number, format_number, rational
from rl_gym.hcl.values import List, Unknown, Value, joined, text_of, unknown_from

_VERB = re.compile(
    r"%(?P<flags>[-+# 0]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?:\[(?P<index>\d+)\])?(?P<verb>.)", re.S
)
_MOST_DIGITS = 1000
_EXPONENT_FROM = 6
"""Without a precision, `%v` and `%g` write an exponent from a million on."""


class _Verb:
    """One `%...` of a format string."""

    __slots__ = ("flags", "index", "precision", "text", "verb", "width")

    def __init__(self, match: re.Match[str]) -> None:
        self.text = match[0]
        self.flags = match["flags"]
        self.width = _bounded(match["width"]) or 0
        self.precision = None if match["precision"] is None else _bounded(match["precision"]) or 0
        self.index = _bounded(match["index"] or "")
        self.verb = match["verb"]

    def padded(self, text: str) -> str:
        missing = self.width - len(graphemes(text))
        if missing <= 0:
            return text
        if "-" in self.flags:
            return text + " " * missing
        return ("0" if "0" in self.flags else " ") * missing + text

    def padded_number(self, text: str) -> str:
        """Zeros go between sign and digits."""
        sign = text[:1] if text[:1] in ("-", "+", " ") else ""
        missing = self.width - len(text)
        if missing > 0 and "0" in self.flags and "-" not in self.flags:
            return sign + "0" * missing + text[len(sign) :]
        return self.padded(text) if missing > 0 else text


def _bounded(digits: str) -> int | None:
    if not digits:
        return None
    return int(digits) if len(digits) < 10 else 10**9


@function("format", Parameter(STRING), variadic=ANYTHING, budgeted=True)
def format_text(budget: Budget, pattern: str, *arguments: Value) -> Value:
    return formatted(budget, pattern, arguments)


@function("formatlist", Parameter(STRING), variadic=ANYTHING, budgeted=True)
def format_list(budget: Budget, pattern: str, *arguments: Value) -> Value:
    if any(isinstance(argument, Unknown) for argument in arguments) and not any(
        isinstance(argument, list) for argument in arguments
    ):
        return unknown_from(arguments)
    lengths = {len(argument) for argument in arguments if isinstance(argument, list)}
    if len(lengths) > 1:
        raise NoValueError("all lists must have the same length")
    count = lengths.pop() if lengths else 1
    budget.items(count)
    return List(
        formatted(budget, pattern, [item[row] if isinstance(item, list) else item for item in arguments])
        for row in range(count)
    )


def formatted(budget: Budget, pattern: str, arguments: Sequence[Value]) -> Value:
    """The pattern filled in; pieces that come from unknown arguments stay unknown. Raises NoValueError."""
    pieces: list[str | Unknown] = []
    at, following, most_used = 0, 0, 0
    while True:
        percent = pattern.find("%", at)
        pieces.append(pattern[at : percent if percent >= 0 else len(pattern)])
        if percent < 0:
            break
        match = _VERB.match(pattern, percent)
        if match is None:
            raise NoValueError(f'"{pattern[percent : percent + 12]}" is not a format verb')
        at = match.end()
        verb = _Verb(match)
        if verb.verb == "%":
            if len(verb.text) > 2:
                raise NoValueError(f'"{verb.text}" is not a format verb')
            pieces.append("%")
            continue
        number = verb.index if verb.index is not None else following + 1
        following = number
        most_used = max(most_used, number)
        if not 1 <= number <= len(arguments):
            raise NoValueError(f'not enough arguments for "{verb.text}"')
        budget.text(verb.width)
        if (verb.precision or 0) > _MOST_DIGITS:
            raise LimitExceededError(f"a precision of more than {_MOST_DIGITS} digits")
        pieces.append(_one(verb, arguments[number - 1]))
    if most_used < len(arguments):
        raise NoValueError(f"too many arguments: {len(arguments)} given, {most_used} used")
    budget.text(sum(len(piece) for piece in pieces if isinstance(piece, str)))
    return joined(pieces)


def _one(verb: _Verb, value: Value) -> str | Unknown:
    kind = verb.verb
    if isinstance(value, Unknown):
        return value
    if kind == "v":
        return _any(verb, value)
    if kind not in "tbdoxXeEfgGsq":
        raise NoValueError(f'"{verb.text}" is not a format verb')
    if value is None:
        raise NoValueError(f'a null value is not allowed for "{verb.text}"')
    try:
        if kind == "t":
            return "true" if to_bool(value) else "false"
        if kind in "sq":
            return _text(verb, value)
        number = to_number(value)
    except ConversionError as error:
        raise NoValueError(f'unsupported value for "{verb.text}": {error}') from None
    return _number(verb, number, kind)


def _any(verb: _Verb, value: Value) -> str | Unknown:
    if isinstance(value, str) and "#" not in verb.flags:
        return verb.padded(value)
    if type(value) is bool and "#" not in verb.flags:
        return "true" if value else "false"
    if isinstance(value, (list, dict, str, bool)) or value is None or "#" in verb.flags:
        text = json_text(value)
        return text if isinstance(text, Unknown) else verb.padded(text)
    return _number(verb, value, "g")


def _text(verb: _Verb, value: Value) -> str:
    text = text_of(value)
    if text is None:
        raise NoValueError(f'unsupported value for "{verb.text}": a string is required')
    if verb.precision is not None:
        text = "".join(graphemes(text)[: verb.precision])
    if verb.verb == "q":
        quoted = json_text(text)
        assert isinstance(quoted, str)
        text = quoted
    return verb.padded(text)


def _number(verb: _Verb, number: Number, kind: str) -> str:
    text = _whole(verb, number, kind) if kind in "bdoxX" else _fractional(number, kind, verb.precision)
    if not text.startswith("-"):
        text = ("+" if "+" in verb.flags else " " if " " in verb.flags else "") + text
    return verb.padded_number(text)


def _whole(verb: _Verb, number: Number, kind: str) -> str:
    value = rational(number)
    if value != int(value):
        raise NoValueError(f'unsupported value for "{verb.text}": a whole number is required')
    digits = format(abs(int(value)), kind)
    if verb.precision is not None:
        digits = digits.rjust(verb.precision, "0")
    if "#" in verb.flags:
        digits = {"b": "0b", "o": "0", "x": "0x", "X": "0X", "d": ""}[kind] + digits
    return ("-" if value < 0 else "") + digits


def _fractional(number: Number, kind: str, precision: int | None) -> str:
    value = Fraction(rational(number))
    sign = "-" if value < 0 else ""
    value = abs(value)
    if kind == "f":
        return sign + _fixed(value, 6 if precision is None else precision)
    if kind in "eE":
        digits, exponent = _significant(value, (6 if precision is None else precision) + 1)
        return sign + _scientific(digits, exponent, kind)
    return sign + _general(number, value, kind, precision)


def _fixed(value: Fraction, places: int) -> str:
    count = round(value * 10**places)
    if not places:
        return str(count)
    text = str(count).rjust(places + 1, "0")
    return f"{text[:-places]}.{text[-places:]}"


def _significant(value: Fraction, digits: int) -> tuple[str, int]:
    """So many leading decimal digits of a number, and the power of ten of the first."""
    if not value:
        return "0" * digits, 0
    exponent = len(str(int(value))) - 1 if value >= 1 else -1
    while value < Fraction(10) ** exponent:
        exponent -= 1
    count = round(value / Fraction(10) ** (exponent - digits + 1))
    text = str(count)
    if len(text) > digits:
        exponent += 1
        text = text[:digits]
    return text, exponent


def _scientific(digits: str, exponent: int, letter: str) -> str:
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{mantissa}{letter}{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _general(number: Number, value: Fraction, kind: str, precision: int | None) -> str:
    if precision is None:
        plain = format_number(number).lstrip("-")
        digits = plain.replace(".", "").strip("0") or "0"
        exponent = _leading_power(plain)
        threshold = _EXPONENT_FROM
    else:
        digits, exponent = _significant(value, max(1, precision))
        digits = digits.rstrip("0") or "0"
        threshold = max(1, precision)
        if threshold > len(digits) > exponent:
            threshold = len(digits)
    if exponent < -4 or exponent >= threshold:
        return _scientific(digits, exponent, "E" if kind == "G" else "e")
    if exponent >= len(digits) - 1:
        return digits + "0" * (exponent - len(digits) + 1)
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


def _leading_power(plain: str) -> int:
    """The power of ten of the first digit of a plain decimal that is not zero."""
    whole, _, fraction = plain.partition(".")
    if not fraction.strip("0") and not whole.strip("0"):
        return 0
    if whole.strip("0"):
        return len(whole.lstrip("0")) - 1
    return -(len(fraction) - len(fraction.lstrip("0"))) - 1
