"""JSON documents of which some leaves are unknown: policies that name the ARN of a resource that does not exist yet."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from rl_gym.hcl.values import (
    UNKNOWN,
    Origin,
    PlainValue,
    Reference,
    Unknown,
    UnknownDocument,
    UnknownText,
    Value,
    plain,
)

ABSENT: Final[Any] = type("Absent", (), {"__slots__": (), "__repr__": lambda self: "ABSENT"})()
"""Stands for what is not written, where None means a written null."""

_IDENTITIES = frozenset({
    "arn", "id", "unique_id", "iam_arn", "canonical_user_id", "account_id", "qualified_arn", "invoke_arn",
    "execution_arn", "stream_arn", "key_id", "dns_suffix", "partition", "region", "url",
})  # fmt: skip
"""Attributes that a provider computes, and that are never empty and hold no wildcard."""

_MARK = "\ue000{}\ue001"
_MARKS = re.compile("\ue000(\\d+)\ue001")
_QUOTES = re.compile(r'\\.|"', re.DOTALL)


class Partial(str):
    """Text of which some pieces are unknown; as a string it shows each of these as `${address.attribute}`.

    `pieces` are strings, and References (or None) for what is unknown. `open` is true when an unknown piece may be
    anything: empty, or a wildcard.
    """

    __slots__ = ("open", "pieces")
    pieces: tuple[str | Reference | None, ...]
    open: bool


def _partial(pieces: tuple[str | Unknown, ...]) -> Partial:
    shown = tuple(piece.direct if isinstance(piece, Unknown) else str(piece) for piece in pieces)
    made = Partial("".join(_shown(piece) for piece in shown))
    made.pieces = shown
    made.open = not all(isinstance(piece, str) or _is_identity(piece) for piece in pieces)
    return made


def _shown(piece: str | Reference | None) -> str:
    if piece is None or isinstance(piece, Reference):
        return "${" + (f"{piece.address}.{piece.attribute}" if piece else "?") + "}"
    return piece


def _is_identity(piece: Unknown) -> bool:
    if not piece.computed or piece.ambiguous:
        return False
    origin = piece.same[0]
    attribute = origin.attribute.rpartition(".")[2]
    return attribute in _IDENTITIES or attribute.endswith("_arn") or (attribute == "name" and "data." in origin.address)


def document_of(value: Value, open_leaves: bool) -> PlainValue:
    """The document that a value holds: see `Block.policy`."""
    try:
        return _document(value, open_leaves)
    except RecursionError:
        return None


def _document(value: Value, open_leaves: bool) -> PlainValue:
    if value is ABSENT or value is None:
        return None
    if isinstance(value, str):
        return _decoded(str(value))
    if isinstance(value, UnknownText):
        return _decoded_pieces(value, open_leaves)
    if isinstance(value, UnknownDocument):
        shown = _leaf(value.document, open_leaves)
        return shown if isinstance(shown, (dict, list)) or shown is UNKNOWN else None
    if isinstance(value, Unknown):
        return UNKNOWN
    if isinstance(value, (list, dict)):
        return _leaf(value, open_leaves)
    return None


def _decoded(text: str) -> PlainValue:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, (dict, list)) else None


def _decoded_pieces(text: UnknownText, open_leaves: bool) -> PlainValue:
    """JSON that was written with unknown pieces in it: each stands for itself while the rest is decoded."""
    unknown: list[Unknown] = []
    out: list[str] = []
    quoted = False
    for piece in text.pieces:
        if isinstance(piece, str):
            out.append(piece.replace("\ue000", "").replace("\ue001", ""))
            quoted ^= sum(match[0] == '"' for match in _QUOTES.finditer(piece)) % 2 == 1
        else:
            mark = _MARK.format(len(unknown))
            out.append(mark if quoted else f'"{mark}"')
            unknown.append(piece)
    document = _decoded("".join(out))
    if document is None:
        return UNKNOWN
    return _leaf(_restored(document, unknown), open_leaves)


def _restored(value: PlainValue, unknown: list[Unknown]) -> Value:
    """The decoded document with its unknown pieces back in place."""
    if isinstance(value, dict):
        return {_shown_key(key, unknown): _restored(item, unknown) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item, unknown) for item in value]
    if not isinstance(value, str) or "\ue000" not in value:
        return value
    split = _MARKS.split(value)
    pieces = [unknown[int(part)] if place % 2 else part for place, part in enumerate(split)]
    kept = tuple(piece for piece in pieces if piece != "")
    if len(kept) > 1:
        return UnknownText(kept, frozenset())
    only = kept[0]
    return only.document if isinstance(only, UnknownDocument) else only


def _shown_key(key: str, unknown: list[Unknown]) -> str:
    if "\ue000" not in key:
        return key
    return _MARKS.sub(lambda match: _shown(unknown[int(match[1])].direct), key)


def _leaf(value: Value, open_leaves: bool) -> PlainValue:
    if isinstance(value, dict):
        return {key: _leaf(item, open_leaves) for key, item in value.items()}
    if isinstance(value, list):
        return [_leaf(item, open_leaves) for item in value]
    if isinstance(value, UnknownText):
        made = _partial(value.pieces)
        return UNKNOWN if made.open and not open_leaves else made
    if isinstance(value, UnknownDocument):
        return UNKNOWN
    if isinstance(value, Unknown):
        return _partial((value,)) if _is_identity(value) else UNKNOWN
    return str(value) if type(value) is Origin else plain(value)
