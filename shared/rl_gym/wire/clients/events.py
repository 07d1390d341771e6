"""Server-sent events, cut out of what arrives: named, of bounded size; comments and other fields are passed over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rl_gym.infra.errors import InfrastructureError

__all__ = ["MAX_EVENT_BYTES", "EventReader", "SentEvent"]

MAX_EVENT_BYTES = 16 << 20


class SentEvent(NamedTuple):
    """An event as it was sent; `name` is empty where it has none."""

    name: str
    data: bytes


class EventReader:
    """Cuts parts of a stream into events. Lines end in LF or CRLF."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, part: bytes) -> Iterator[SentEvent]:
        """The events that are complete now. Raises InfrastructureError for one of more than MAX_EVENT_BYTES."""
        *ended, rest = part.split(b"\n")
        for piece in ended:
            self._grow(piece)
            line = bytes(self._line).removesuffix(b"\r")
            self._line.clear()
            event = self._read(line)
            if event is not None:
                yield event
        self._grow(rest)

    def _grow(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > MAX_EVENT_BYTES:
            raise InfrastructureError(f"an event of more than {MAX_EVENT_BYTES >> 20} MiB in a stream")
        self._line += piece

    def _read(self, line: bytes) -> SentEvent | None:
        """The event that a line ends, None where it ends none."""
        if line:
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"event":
                self._name = value.decode(errors="replace")
            elif field == b"data":
                self._data.append(value)
            return None
        event = SentEvent(self._name, b"\n".join(self._data)) if self._data else None
        self._name, self._data, self._size = "", [], 0
        return event
