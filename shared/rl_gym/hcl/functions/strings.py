"""Functions on text. What Terraform counts as a character is what a reader sees as one (a grapheme cluster)."""

from __future__ import annotations

import unicodedata

from rl_gym.hcl.budget import Budget, NoValueError
from rl_gym.hcl.conversion import NUMBER, STRING
from rl_gym.hcl.functions.registry import PARTLY_KNOWN, Parameter, function, whole
from rl_gym.hcl.values import List, Unknown, UnknownText, Value, joined, text_of, unknown_from

_SPACES = "\t\n\v\f\r \x85\xa0" + "".join(
    map(chr, [0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000])
)
_JOINER = "\u200d"


def graphemes(text: str) -> list[str]:
    """Text cut where a reader sees a new character begin."""
    if text.isascii() and "\r\n" not in text:
        return list(text)
    clusters: list[str] = []
    flags = 0
    for character in text:
        previous = clusters[-1] if clusters else ""
        is_flag = "\U0001f1e6" <= character <= "\U0001f1ff"
        if previous and (
            (previous == "\r" and character == "\n")
            or _extends(character)
            or (previous.endswith(_JOINER) and ord(character) > 0x2000)
            or (is_flag and flags % 2 == 1)
        ):
            clusters[-1] += character
        else:
            clusters.append(character)
        flags = flags + 1 if is_flag else 0
    return clusters


def _extends(character: str) -> bool:
    """Whether a character is drawn on the one before it."""
    return (
        character == _JOINER
        or unicodedata.category(character) in ("Mn", "Me", "Mc")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


@function("upper", STRING)
def upper(text: str) -> str:
    return text.upper() if text.isascii() else "".join(_simple(character, character.upper()) for character in text)


@function("lower", STRING)
def lower(text: str) -> str:
    return text.lower() if text.isascii() else "".join(character.lower()[0] for character in text)


def _simple(character: str, changed: str) -> str:
    """Terraform maps a letter to one letter, so `ß` stays as it is."""
    return changed if len(changed) == 1 else character


@function("title", STRING)
def title(text: str) -> str:
    out: list[str] = []
    separated = True
    for character in text:
        out.append(_simple(character, character.title()) if separated else character)
        separated = character.isspace() if not character.isascii() else not (character.isalnum() or character == "_")
    return "".join(out)


@function("chomp", STRING)
def chomp(text: str) -> str:
    return text.rstrip("\r\n")


@function("trim", STRING, STRING)
def trim(text: str, characters: str) -> str:
    return text.strip(characters) if characters else text


@function("trimspace", STRING)
def trimspace(text: str) -> str:
    return text.strip(_SPACES)


@function("trimprefix", STRING, STRING)
def trimprefix(text: str, prefix: str) -> str:
    return text.removeprefix(prefix)


@function("trimsuffix", STRING, STRING)
def trimsuffix(text: str, suffix: str) -> str:
    return text.removesuffix(suffix)


@function("indent", NUMBER, STRING, budgeted=True)
def indent(budget: Budget, spaces: Value, text: str) -> str:
    width = whole(spaces)
    if width < 0:
        raise NoValueError("the number of spaces must not be negative")
    if "\n" not in text:
        return text
    budget.text(len(text) + width * text.count("\n"))
    return text.replace("\n", "\n" + " " * width)


@function("strrev", STRING)
def strrev(text: str) -> str:
    return "".join(reversed(graphemes(text)))


@function("substr", STRING, NUMBER, NUMBER)
def substr(text: str, offset: Value, length: Value) -> str:
    start, count = whole(offset), whole(length)
    characters = graphemes(text)
    if start < 0:
        start = max(0, start + len(characters))
        count = count or -1
    return "".join(characters[start:] if count < 0 else characters[start : start + count])


@function("split", STRING, STRING, budgeted=True)
def split(budget: Budget, separator: str, text: str) -> List:
    if separator:
        budget.items(text.count(separator) + 1)
        return List(str(text).split(separator))
    budget.items(len(text))
    return List(text)


@function("join", STRING, variadic=PARTLY_KNOWN, budgeted=True)
def join(budget: Budget, separator: str, *lists: Value) -> Value:
    if any(isinstance(items, Unknown) for items in lists):
        return unknown_from(lists)
    pieces: list[str | Unknown] = []
    size = 0
    for items in lists:
        if not isinstance(items, list):
            raise NoValueError("a list of strings is required")
        budget.items(len(items))
        for item in items:
            piece = item if isinstance(item, Unknown) else text_of(item)
            if piece is None:
                raise NoValueError("every element must be a string")
            if pieces:
                pieces.append(separator)
            pieces.append(piece)
            size += len(separator) + (len(piece) if isinstance(piece, str) else 0)
    budget.text(size)
    return joined(pieces)


@function("startswith", Parameter(STRING, unknown=True), STRING)
def startswith(text: Value, prefix: str) -> Value:
    if isinstance(text, Unknown):
        return _known_end(text, prefix, 0)
    return text.startswith(prefix)


@function("endswith", Parameter(STRING, unknown=True), STRING)
def endswith(text: Value, suffix: str) -> Value:
    if isinstance(text, Unknown):
        return _known_end(text, suffix, -1)
    return text.endswith(suffix)


def _known_end(text: Unknown, wanted: str, end: int) -> Value:
    """Whether a partly known string begins (end 0) or ends (end -1) as wanted, where its known end decides that."""
    piece = text.pieces[end] if isinstance(text, UnknownText) else ""
    if isinstance(piece, str) and piece:
        matches = str.startswith if end == 0 else str.endswith
        if matches(piece, wanted):
            return True
        if not matches(wanted, piece):
            return False
    return unknown_from([text])


@function("strcontains", STRING, STRING)
def strcontains(text: str, wanted: str) -> bool:
    return wanted in text
