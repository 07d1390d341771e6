"""Functions on numbers."""

from __future__ import annotations

import math

from rl_gym.hcl.budget import NoValueError
from rl_gym.hcl.conversion import ANY, NUMBER
from rl_gym.hcl.functions.registry import function, whole
from rl_gym.hcl.number import Number, from_float, negate, rational
from rl_gym.hcl.values import Value

_LARGEST_EXPONENT = 2.0**63
_LARGEST_SCALE = 2**12
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@function("abs", NUMBER)
def absolute(number: Number) -> Number:
    return negate(number) if rational(number) < 0 else number


@function("ceil", NUMBER)
def ceil(number: Number) -> int:
    return math.ceil(rational(number))


@function("floor", NUMBER)
def floor(number: Number) -> int:
    return math.floor(rational(number))


@function("signum", NUMBER)
def signum(number: Number) -> int:
    value = whole(number)
    return (value > 0) - (value < 0)


@function("max", NUMBER, variadic=NUMBER)
def largest(*numbers: Number) -> Number:
    return max(numbers, key=rational)


@function("min", NUMBER, variadic=NUMBER)
def smallest(*numbers: Number) -> Number:
    return min(numbers, key=rational)


@function("log", NUMBER, NUMBER)
def log(number: Number, base: Number) -> Number:
    try:
        return from_float(math.log(_double(number)) / math.log(_double(base)))
    except (ValueError, ZeroDivisionError):
        raise NoValueError("the logarithm does not exist") from None


@function("pow", NUMBER, NUMBER)
def power(number: Number, exponent: Number) -> Number:
    try:
        return from_float(_raised(_double(number), _double(exponent)))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise NoValueError("the power is not a finite number") from None


def _raised(base: float, exponent: float) -> float:
    """A power by repeated squaring of the mantissa, rounded at every step as Terraform's runtime rounds it.

    The C library's `pow` is closer to the truth in the last digit, and so prints another number.
    """
    if base in (0, 1) or exponent in (0, 0.5, -0.5) or abs(exponent) >= _LARGEST_EXPONENT:
        return math.pow(base, exponent)
    fraction, whole_part = math.modf(abs(exponent))
    if fraction and base < 0:
        raise ValueError("a root of a negative number")
    if fraction > 0.5:
        fraction, whole_part = fraction - 1, whole_part + 1
    mantissa, scale = (math.exp(fraction * math.log(base)) if fraction else 1.0), 0
    square, square_scale = math.frexp(base)
    times = int(whole_part)
    while times:
        if abs(square_scale) > _LARGEST_SCALE:
            return math.pow(base, exponent)
        if times & 1:
            mantissa *= square
            scale += square_scale
        square *= square
        square_scale *= 2
        if square < 0.5:
            square += square
            square_scale -= 1
        times >>= 1
    return math.ldexp(1 / mantissa, -scale) if exponent < 0 else math.ldexp(mantissa, scale)


def _double(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:
        raise NoValueError("a number is too large for double precision") from None


@function("parseint", ANY, NUMBER)
def parseint(text: Value, base: Value) -> int:
    radix = whole(base)
    if not isinstance(text, str):
        raise NoValueError("the first argument must be a string")
    if not 2 <= radix <= 62:
        raise NoValueError("the base must be between 2 and 62")
    digits = text[1:] if text[:1] in ("-", "+") else text
    allowed = _DIGITS[:radix]
    folded = digits.lower() if radix <= 36 else digits
    if not folded or any(digit not in allowed for digit in folded) or len(folded) > 512:
        raise NoValueError(f"cannot parse {text[:40]!r} as a base {radix} integer")
    value = 0
    for digit in folded:
        value = value * radix + allowed.index(digit)
    return -value if text[0] == "-" else value
