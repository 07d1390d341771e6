"""Functions that write and read JSON, YAML, CSV, base64 and URLs."""

from __future__ import annotations

import base64
import csv
import json
from typing import NoReturn
from urllib.parse import quote_plus

from rl_gym.hcl.budget import Budget, LimitExceededError, NoValueError
from rl_gym.hcl.conversion import STRING
from rl_gym.hcl.functions.registry import ANYTHING, Parameter, function, unpredictable
from rl_gym.hcl.number import NumberRangeError, format_number, from_text
from rl_gym.hcl.values import (
    NOTHING_KNOWN,
    List,
    Unknown,
    UnknownDocument,
    Value,
    has_unknown,
    references_of,
    unknown_from,
    with_origin,
)

_NATIVE_DIGITS = 100
_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


# ---- JSON ------------------------------------------------------------------------------------------------------------


def json_text(value: Value) -> str | Unknown:
    """The value as Terraform writes JSON: keys sorted, no spaces, `<`, `>` and `&` escaped.

    A value with unknown parts gives an UnknownDocument that holds them.
    """
    if isinstance(value, Unknown):
        return UnknownDocument(value, value.references)
    references = references_of(value)
    if has_unknown(value):
        return UnknownDocument(value, references)
    text = _written(value)
    return with_origin(text, references) if references else text


def _written(value: Value) -> str:
    if isinstance(value, str):
        return json.dumps(str(value), ensure_ascii=False).translate(_ESCAPED)
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ",".join([_written(item) for item in value]) + "]"
    if isinstance(value, dict):
        return "{" + ",".join([f"{_written(key)}:{_written(value[key])}" for key in sorted(value)]) + "}"
    return format_number(value)


def json_value(text: str) -> Value:
    """The value that JSON text means; raises NoValueError."""
    try:
        return json.loads(text, parse_int=_whole, parse_float=_number, parse_constant=_no_constant)
    except NumberRangeError as error:
        raise NoValueError(str(error)) from None
    except ValueError as error:
        raise NoValueError(f"invalid JSON: {error}") from None
    except RecursionError:
        raise LimitExceededError("the JSON text nests too deeply") from None


def _whole(text: str) -> Value:
    return int(text) if len(text) < _NATIVE_DIGITS else from_text(text)


def _number(text: str) -> Value:
    return from_text(text)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


@function("jsonencode", ANYTHING, budgeted=True)
def jsonencode(budget: Budget, value: Value) -> Value:
    if isinstance(value, (list, dict)):
        budget.value(value)
        budget.value(value)
    return json_text(value)


@function("jsondecode", Parameter(STRING, unknown=True), budgeted=True)
def jsondecode(budget: Budget, text: Value) -> Value:
    if isinstance(text, UnknownDocument):
        return text.document
    if isinstance(text, Unknown):
        return unknown_from([text])
    return decoded(budget, text)


def decoded(budget: Budget, text: str) -> Value:
    """The value of JSON text, paid for; lone surrogates become the replacement character."""
    budget.spend(len(text) // 4)
    value = json_value(_without_surrogates(text))
    if isinstance(value, (list, dict)):
        budget.value(value)
    return value


def _without_surrogates(text: str) -> str:
    """JSON text whose escapes name no half of a surrogate pair."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    out: list[str] = []
    at = 0
    while True:
        found = text.find("\\", at)
        if found < 0:
            return "".join([*out, text[at:]])
        out.append(text[at:found])
        escape = text[found : found + 6]
        if escape[1:2] != "u" or escape[2:3] not in "dD" or escape[3:4] not in "89abcdefABCDEF":
            at = found + 2
            out.append(text[found:at])
            continue
        pair = text[found : found + 12]
        if escape[3:4] in "89abAB" and pair[6:9] in ("\\ud", "\\uD") and pair[9:10] in tuple("cdefCDEF"):
            at = found + 12
            out.append(pair)
        else:
            at = found + 6
            out.append("\ufffd")


# ---- YAML ------------------------------------------------------------------------------------------------------------


@function("yamlencode", ANYTHING, budgeted=True)
def yamlencode(budget: Budget, value: Value) -> Value:
    if has_unknown(value):
        return unknown_from([value])
    if isinstance(value, (list, dict)):
        budget.value(value)
    lines = _yaml_lines(value)
    if lines is None:
        return NOTHING_KNOWN
    if isinstance(value, str):
        lines = [lines[0], *[f"  {line}" for line in lines[1:]]]
    return "\n".join(lines) + "\n"


def _yaml_lines(value: Value) -> list[str] | None:
    """The value as Terraform writes YAML, or None where it would write a string in an uncommon style."""
    if not isinstance(value, (list, dict)) or not value:
        return _yaml_scalar(value)
    lines: list[str] = []
    entries: list[tuple[str, Value]]
    if isinstance(value, dict):
        entries = [(f"{_written(key)}:", value[key]) for key in sorted(value)]
    else:
        entries = [("-", item) for item in value]
    for head, item in entries:
        inner = _yaml_lines(item)
        if inner is None:
            return None
        if not isinstance(item, (list, dict)) or not item:
            lines += [f"{head} {inner[0]}", *[f"  {line}" for line in inner[1:]]]
        elif head == "-":
            lines += [f"- {inner[0]}", *[f"  {line}" for line in inner[1:]]]
        elif isinstance(item, dict):
            lines += [head, *[f"  {line}" for line in inner]]
        else:
            lines += [head, *inner]
    return lines


def _yaml_scalar(value: Value) -> list[str] | None:
    if isinstance(value, str):
        return _yaml_text(str(value))
    if isinstance(value, list):
        return ["[]"]
    if isinstance(value, dict):
        return ["{}"]
    return [_written(value)]


def _yaml_text(text: str) -> list[str] | None:
    """Text in quotes, or over several lines as a literal block where nothing in it needs care."""
    *lines, last = text.split("\n")
    plain = all(line.isprintable() and line == line.rstrip() and line.lstrip() for line in (*lines, last or "x"))
    if not lines:
        return [json.dumps(text, ensure_ascii=False)] if text.isprintable() else None
    if not plain or lines[0].startswith(" "):
        return None
    return ["|", *lines] if not last else ["|-", *lines, last]


@function("yamldecode", STRING, budgeted=True)
def yamldecode(budget: Budget, text: str) -> Value:
    """YAML is read where it is JSON; other YAML is left unknown."""
    if text.lstrip()[:1] not in ("{", "["):
        return NOTHING_KNOWN
    try:
        return decoded(budget, text)
    except NoValueError:
        return NOTHING_KNOWN


# ---- CSV, base64, URLs -----------------------------------------------------------------------------------------------


@function("csvdecode", STRING, budgeted=True)
def csvdecode(budget: Budget, text: str) -> Value:
    budget.spend(len(text) // 8)
    try:
        rows = [row for row in csv.reader(str(text).splitlines(keepends=True), strict=True) if row]
    except csv.Error as error:
        raise NoValueError(f"invalid CSV: {error}") from None
    if not rows:
        raise NoValueError("missing header line")
    header, *body = rows
    if len(set(header)) < len(header):
        raise NoValueError("duplicate column name")
    budget.items(len(body))
    for place, row in enumerate(body, 2):
        if len(row) != len(header):
            raise NoValueError(f"wrong number of fields on line {place}")
    return List(dict(zip(header, row, strict=True)) for row in body)


@function("base64encode", Parameter(STRING, unknown=True))
def base64encode(text: Value) -> Value:
    if isinstance(text, Unknown):
        return unknown_from([text])
    return base64.b64encode(text.encode()).decode()


@function("base64decode", STRING)
def base64decode(text: str) -> str:
    return decode_bytes(text, "utf-8")


def decode_bytes(text: str, codec: str) -> str:
    try:
        return base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True).decode(codec)
    except UnicodeDecodeError:
        raise NoValueError(f"the decoded bytes are not {codec} text") from None
    except ValueError:  # binascii.Error, or text beyond ASCII
        raise NoValueError("invalid base64 text") from None


_CODECS = {
    "utf-8": "utf-8",
    "us-ascii": "ascii",
    "iso-8859-1": "latin-1",
    "windows-1252": "cp1252",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}


@function("textencodebase64", STRING, STRING)
def textencodebase64(text: str, encoding: str) -> Value:
    codec = _CODECS.get(encoding.lower())
    if codec is None:
        return NOTHING_KNOWN
    try:
        return base64.b64encode(text.encode(codec)).decode()
    except UnicodeEncodeError:
        raise NoValueError(f"the text has characters that {encoding} lacks") from None


@function("textdecodebase64", STRING, STRING)
def textdecodebase64(text: str, encoding: str) -> Value:
    codec = _CODECS.get(encoding.lower())
    return NOTHING_KNOWN if codec is None else decode_bytes(text, codec)


@function("urlencode", STRING)
def urlencode(text: str) -> str:
    return quote_plus(text, safe="")


unpredictable("base64gzip")
