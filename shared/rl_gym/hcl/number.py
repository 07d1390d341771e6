"""Numbers as Terraform holds them: binary floating point with a 512-bit mantissa, printed with the fewest digits.

A whole number that fits is a Python int, so that nearly all arithmetic is native; everything else is a `Real`.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

PRECISION = 512
"""Bits of mantissa of a number that was written or computed."""
DOUBLE = 53
"""Bits of mantissa of a number that came out of a function working in double precision (`pow`, `log`)."""
LARGEST_EXPONENT = 4096
"""Numbers are kept between 2**-4096 and 2**4096; beyond lies no configuration."""

_NATIVE = 1 << PRECISION
_TEXT = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?")


class NumberRangeError(ValueError):
    """A number outside the range that is kept."""


class Real:
    """A number that is not a plain int: it has a fraction, or more than 512 bits, or only 53 bits of truth."""

    __slots__ = ("precision", "value")

    def __init__(self, value: Fraction, precision: int) -> None:
        self.value = value
        self.precision = precision

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Real):
            return self.value == other.value
        return isinstance(other, int) and not isinstance(other, bool) and self.value == other

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return format_number(self)

    def __float__(self) -> float:
        return float(self.value)


Number = int | Real


def rational(number: Number) -> Fraction | int:
    """The exact value, for arithmetic and order."""
    return number.value if type(number) is Real else number  # type: ignore[return-value]


def rounded(value: Fraction | int, precision: int = PRECISION) -> Number:
    """The nearest number with `precision` bits of mantissa, ties to even."""
    if type(value) is int:
        if -_NATIVE < value < _NATIVE and precision == PRECISION:
            return value
        value = Fraction(value)
    numerator, denominator = value.numerator, value.denominator
    magnitude = abs(numerator)
    exponent = magnitude.bit_length() - denominator.bit_length()
    if magnitude and abs(exponent) > LARGEST_EXPONENT:
        raise NumberRangeError(f"a number beyond 2 to the power of {LARGEST_EXPONENT}")
    if denominator & (denominator - 1) or magnitude.bit_length() > precision:
        mantissa, shift = _mantissa(magnitude, denominator, precision)
        value = Fraction(mantissa) * (Fraction(2) ** shift)
        if numerator < 0:
            value = -value
    value = Fraction(value)
    if value.denominator == 1 and abs(value.numerator).bit_length() <= precision:
        return value.numerator
    return Real(value, precision)


def _mantissa(numerator: int, denominator: int, precision: int) -> tuple[int, int]:
    """Whole mantissa of exactly `precision` bits and the power of two that it stands for."""
    shift = numerator.bit_length() - denominator.bit_length() - precision
    if shift >= 0:
        denominator <<= shift
    else:
        numerator <<= -shift
    mantissa, rest = divmod(numerator, denominator)
    if mantissa.bit_length() > precision:
        shift += 1
        denominator <<= 1
        mantissa, rest = divmod(numerator, denominator)
    elif mantissa.bit_length() < precision:
        shift -= 1
        numerator <<= 1
        mantissa, rest = divmod(numerator, denominator)
    twice = 2 * rest
    if twice > denominator or (twice == denominator and mantissa & 1):
        mantissa += 1
        if mantissa.bit_length() > precision:
            mantissa >>= 1
            shift += 1
    return mantissa, shift


def from_float(value: float) -> Number:
    """A double, remembered as one: it prints as the shortest text that names that double."""
    if math.isnan(value) or math.isinf(value):
        raise NumberRangeError("not a finite number")
    if value.is_integer() and abs(value) < 2**DOUBLE:
        return int(value)
    return Real(Fraction(value), DOUBLE)


def from_text(text: str) -> Number | None:
    """The number that a decimal text means (`12`, `-0.5`, `1e3`), or None when it means none."""
    match = _TEXT.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = match.groups()
    digits = whole + (fraction or "")
    if not digits:
        return None
    if fraction is None and exponent is None and len(digits) < PRECISION // 4:
        return -int(digits) if sign == "-" else int(digits)
    if len(digits) > LARGEST_EXPONENT // 3 or (exponent is not None and len(exponent) > 6):
        raise NumberRangeError(f"a number of more than {LARGEST_EXPONENT // 3} digits")
    power = int(exponent or 0) - len(fraction or "")
    if abs(power) > LARGEST_EXPONENT // 3:
        raise NumberRangeError(f"a number beyond 2 to the power of {LARGEST_EXPONENT}")
    value = Fraction(int(digits)) * (Fraction(10) ** power)
    return rounded(-value if sign == "-" else value)


def divide(left: Number, right: Number) -> Number:
    """The quotient; raises ZeroDivisionError."""
    if type(left) is int and type(right) is int:
        quotient, rest = divmod(left, right)
        return quotient if rest == 0 else rounded(Fraction(left, right))
    return rounded(Fraction(rational(left)) / rational(right), _precision(left, right))


def remainder(left: Number, right: Number) -> Number:
    """What is left of `left` after dividing towards zero; a remainder by zero is `left`, as Terraform has it.

    Quotient and product are rounded on the way, also as Terraform has it.
    """
    if rational(right) == 0:
        return left
    quotient = math.trunc(rational(divide(left, right)))
    return subtract(left, multiply(right, quotient))


def add(left: Number, right: Number) -> Number:
    return rounded(rational(left) + rational(right), _precision(left, right))


def subtract(left: Number, right: Number) -> Number:
    return rounded(rational(left) - rational(right), _precision(left, right))


def multiply(left: Number, right: Number) -> Number:
    """The product; two doubles multiply exactly, since only the bits that are needed are kept."""
    product = Fraction(rational(left)) * rational(right)
    needed = _bits(product)
    return rounded(product, min(PRECISION, max(_precision(left, right), needed)))


def negate(number: Number) -> Number:
    return Real(-number.value, number.precision) if type(number) is Real else -number  # type: ignore[operator]


def _precision(left: Number, right: Number) -> int:
    first = left.precision if type(left) is Real else PRECISION
    second = right.precision if type(right) is Real else PRECISION
    return max(first, second)


def _bits(value: Fraction) -> int:
    """Bits of mantissa that hold a dyadic fraction exactly."""
    numerator = abs(value.numerator)
    if not numerator:
        return 1
    return numerator.bit_length() - ((numerator & -numerator).bit_length() - 1)


def format_number(number: Number | float) -> str:
    """Decimal text without an exponent: the fewest digits that still name this number at its precision."""
    if type(number) is int:
        return str(number)
    if type(number) is float:
        number = from_float(number)
        return format_number(number)
    assert type(number) is Real
    value = number.value
    sign = "-" if value < 0 else ""
    return sign + _shortest(abs(value), number.precision)


def _shortest(value: Fraction, precision: int) -> str:
    """The fewest digits within half a step of the value.

    Terraform's runtime takes the steps on both sides of a power of two for equal, and so do we.
    """
    mantissa, shift = _mantissa(value.numerator, value.denominator, precision)
    step = Fraction(2) ** shift
    centre = mantissa * step
    lowest, highest = centre - step / 2, centre + step / 2
    closed = mantissa % 2 == 0
    power = len(str(int(centre))) if centre >= 1 else -_leading_zeros(centre)
    for digits in range(1, 400):
        unit = Fraction(10) ** (power - digits)
        count = centre // unit
        down, up = count * unit, (count + 1) * unit
        down_fits = down > lowest or (closed and down == lowest)
        up_fits = up < highest or (closed and up == highest)
        if down_fits and up_fits:
            twice = 2 * (centre - down)
            return _plain(count + 1 if twice > unit or (twice == unit and count % 2) else count, power - digits)
        if down_fits:
            return _plain(count, power - digits)
        if up_fits:
            return _plain(count + 1, power - digits)
    raise AssertionError("a binary fraction always has a finite decimal name")


def _leading_zeros(value: Fraction) -> int:
    """Zeros right after the point of a number below 1."""
    zeros = 0
    while value * 10 < 1:
        value *= 10
        zeros += 1
    return zeros


def _plain(count: int, power: int) -> str:
    """`count` times ten to the `power`, written out."""
    if power >= 0:
        return str(count) + "0" * power
    text = str(count).rjust(1 - power, "0")
    text = f"{text[:power]}.{text[power:]}"
    return text.rstrip("0").rstrip(".")


def to_python(number: Number) -> int | float:
    """The number as plain Python data; a fraction becomes the nearest float."""
    if type(number) is int:
        return number
    assert type(number) is Real
    value = number.value
    if value.denominator == 1:
        return value.numerator
    try:
        return float(value)
    except OverflowError:
        return math.trunc(value)
