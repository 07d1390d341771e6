"""Numbers have a 512-bit mantissa and print with the fewest digits that name them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_gym.hcl import number
from rl_gym.hcl.number import NumberRangeError, Real, format_number, from_float, from_text


def read(text: str) -> number.Number:
    value = from_text(text)
    assert value is not None
    return value


def test_tenths_add_up() -> None:
    assert format_number(number.add(read("0.1"), read("0.2"))) == "0.3"
    assert number.add(read("0.5"), read("0.5")) == 1


def test_a_third_prints_every_digit_of_its_precision() -> None:
    assert format_number(number.divide(1, 3)) == "0." + "3" * 154 + "5"


def test_a_double_prints_as_short_as_a_double() -> None:
    assert format_number(from_float(0.1)) == "0.1"
    assert format_number(from_float(2.0**64)) == "18446744073709550000"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("12", "12"),
        ("-0.50", "-0.5"),
        ("1e3", "1000"),
        ("1E-3", "0.001"),
        (".5", "0.5"),
        ("5.", "5"),
        ("+7", "7"),
        ("123456789.123456789", "123456789.123456789"),
        ("1e100", "1" + "0" * 100),
        ("9007199254740993", "9007199254740993"),
    ],
)
def test_decimal_text_is_a_number(text: str, shown: str) -> None:
    assert format_number(read(text)) == shown


@pytest.mark.parametrize("text", ["", ".", " 1", "1_000", "0x10", "one", "1e", "--1", "1.2.3", "e5"])
def test_other_text_is_no_number(text: str) -> None:
    assert from_text(text) is None


@pytest.mark.parametrize("text", ["1e99999999999", "1e-99999999999", "9" * 5000, "1e5000"])
def test_a_number_beyond_the_range_is_refused(text: str) -> None:
    with pytest.raises(NumberRangeError):
        from_text(text)


def test_products_stay_in_range() -> None:
    largest = number.multiply(read("1e300"), read("1e300"))
    with pytest.raises(NumberRangeError):
        number.multiply(largest, number.multiply(largest, largest))


def test_remainders_keep_the_sign_of_the_left() -> None:
    assert number.remainder(-7, 3) == -1
    assert number.remainder(7, -3) == 1
    assert number.remainder(5, 0) == 5
    assert format_number(number.remainder(read("7.5"), 2)) == "1.5"


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**12))
def test_a_quotient_is_within_half_a_unit_of_its_last_place(left: int, right: int) -> None:
    quotient = Fraction(number.rational(number.divide(left, right)))
    exact = Fraction(left, right)
    assert abs(quotient - exact) <= abs(exact) * Fraction(1, 2**512)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300))
def test_printing_a_double_gives_it_back(value: float) -> None:
    # The doubles below a power of two lie closer together, which Terraform's runtime does not heed.
    is_power_of_two = abs(math.frexp(value)[0]) == 0.5
    if value == 0 or (abs(value) > 1e-300 and not is_power_of_two):
        assert float(format_number(from_float(value))) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=10))
def test_printing_a_decimal_gives_it_back(value: object) -> None:
    shown = format_number(read(f"{value:f}"))
    assert Fraction(shown) == Fraction(str(value))


def test_numbers_become_plain_python() -> None:
    assert number.to_python(read("1.5")) == 1.5
    assert type(number.to_python(Real(Fraction(2**600), 53))) is int
