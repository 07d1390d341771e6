"""What the service and its workers say to each other: chunks of payloads one way, one answer a payload the other.

Both ways are binary and of bounded length. A worker has read hostile text: what it says is sliced, never unpickled.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, BinaryIO

__all__ = ["MAX_ANSWER_BYTES", "Answer", "AnswerReader", "Kind", "pack_answer", "pack_chunk", "read_chunks"]

MAX_ANSWER_BYTES = 64 << 20

_HEADER = struct.Struct("!I")
_ANSWER = struct.Struct("!BI")


class Kind(IntEnum):
    """What an answer is. The body of `JUDGED` is the message itself, in JSON; of the next two an error's."""

    JUDGED = 0
    REFUSED = 1
    """The caller's mistake, about this payload alone."""
    FAULT = 2
    """A fault of ours: worth another try."""
    END = 3
    """The worker waits for the next chunk; what it has not answered of this one is to be sent again."""
    READY = 4
    """The first word of a worker; one that cannot begin says why instead, and ends."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answers come in the order of the payloads."""

    kind: Kind
    body: bytes = b""

    @classmethod
    def error(cls, kind: Kind, code: str, detail: str, status: int) -> Answer:
        return cls(kind, json.dumps({"error": code, "detail": detail, "status": status}).encode())


def pack_chunk(task: dict[str, Any], payloads: Sequence[bytes]) -> bytes:
    """A task, in JSON values, and the payloads to do it to."""
    header = json.dumps({"task": task, "sizes": [len(payload) for payload in payloads]}).encode()
    return b"".join((_HEADER.pack(len(header)), header, *payloads))


def read_chunks(stream: BinaryIO) -> Iterator[tuple[dict[str, Any], list[bytes]]]:
    """Tasks with their payloads until the stream ends."""
    while len(prefix := stream.read(_HEADER.size)) == _HEADER.size:
        header = json.loads(stream.read(_HEADER.unpack(prefix)[0]))
        yield header["task"], [stream.read(size) for size in header["sizes"]]


def pack_answer(answer: Answer) -> bytes:
    return _ANSWER.pack(answer.kind, len(answer.body)) + answer.body


class AnswerReader:
    """Cuts what arrives from a worker into answers."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Answer]:
        """The answers that are complete now. Raises ValueError for what no worker of ours would say."""
        self._buffer += data
        while len(self._buffer) >= _ANSWER.size:
            kind, size = _ANSWER.unpack_from(self._buffer)
            if size > MAX_ANSWER_BYTES:
                raise ValueError(f"an answer of {size} bytes")
            end = _ANSWER.size + size
            if len(self._buffer) < end:
                return
            answer = Answer(Kind(kind), bytes(self._buffer[_ANSWER.size : end]))
            del self._buffer[:end]
            yield answer
