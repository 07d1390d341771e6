"""From the spelling of numbers and strings to their values."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from unicodedata import normalize

from rl_gym.hcl import lexer

_CONTROL = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
MAX_NUMBER_DIGITS = 300
"""Digits before or after the decimal point: a float holds as many, and Terraform itself keeps about 154."""


class LiteralError(ValueError):
    """A literal that has no value; `offset` is counted from its first character."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class NumberTooLongError(ValueError):
    """A number with more than MAX_NUMBER_DIGITS digits."""


_EXACT_DIGITS = 15
"""So many digits a float keeps."""
_NUMBER = re.compile(r"[0-9]++(?:\.[0-9]*+)?+(?:[eE][+-]?[0-9]++)?+").fullmatch


def number(text: str) -> int | float:
    """The value of a number: an int where it is whole, else the nearest float.

    Raises LiteralError for a word such as `1.2.3`, and NumberTooLongError.
    """
    if len(text) > MAX_NUMBER_DIGITS:
        raise NumberTooLongError
    if text.isdigit():
        return int(text)
    if _NUMBER(text) is None:
        raise LiteralError("this is not a number: expected digits with at most one decimal point and one exponent", 0)
    if len(text) <= _EXACT_DIGITS and text.replace(".", "0", 1).isdigit():
        short = float(text)
        return int(short) if short.is_integer() else short
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise NumberTooLongError from None
    if value and abs(value.adjusted()) > MAX_NUMBER_DIGITS:
        raise NumberTooLongError
    return int(value) if value == value.to_integral_value() else float(value)


def plain(text: str) -> str:
    """Text without escapes, in the normal form in which Terraform compares strings."""
    return text if text.isascii() else normalize("NFC", text)


def quoted(raw: str) -> str:
    """The value of text between quotes. Raises LiteralError for an escape that does not exist."""
    if "\\" not in raw and "${" not in raw and "%{" not in raw:
        return plain(raw)
    return plain(lexer.ESCAPE.sub(_unescape, raw))


def heredoc(raw: str) -> str:
    """The value of text in a heredoc, where a backslash means itself."""
    if "${" not in raw and "%{" not in raw:
        return plain(raw)
    return plain(lexer.DOLLAR_ESCAPE.sub(lambda match: match[1] or match[2], raw))


def _unescape(match: re.Match[str]) -> str:
    control, short, long, dollars, percents = match.groups()
    if control:
        return _CONTROL[control]
    if dollars or percents:
        return dollars or percents
    if not (short or long):
        found = match.string[match.end() : match.end() + 1]
        if found in ("u", "U"):
            digits = "four" if found == "u" else "eight"
            raise LiteralError(f"\\{found} must be followed by {digits} hexadecimal digits", match.start())
        raise LiteralError(f'there is no escape sequence "\\{found}"; write "\\\\" for a backslash', match.start())
    code = int(short or long, 16)
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        raise LiteralError(f"{match[0]} is not a character", match.start())
    return chr(code)
