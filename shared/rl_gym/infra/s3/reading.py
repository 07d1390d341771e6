"""A stream over an object in S3, which goes on where a connection broke off."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rl_gym.infra.s3.connection import TRANSPORT_ERRORS, Connection, RefusedError
from rl_gym.infra.s3.writing import tag

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["Body"]

_MOST_RESUMED = 8


class Body(io.RawIOBase):
    """The body of one version of an object, from its first byte to its last: never the half of one and of another.

    Raises InfrastructureError where it cannot be read to its end. Attributes: `etag`; `size` in bytes.
    """

    def __init__(self, connection: Connection, key: str, answer: Mapping[str, Any]) -> None:
        self._connection, self._key = connection, key
        self._stream = answer["Body"]
        self._position = self._resumed = 0
        self.size = int(answer.get("ContentLength", -1))
        if self.size < 0:
            raise connection.fault("it answered without a length", key)
        self.etag = tag(connection, key, answer)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while self._position < self.size:
            try:
                count: int = self._stream.readinto(buffer)
            except TRANSPORT_ERRORS as error:
                self._resume(error)
            else:
                self._position += count
                return count
        return 0

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()

    def _resume(self, error: Exception) -> None:
        self._stream.close()
        if self._resumed == _MOST_RESUMED:
            raise self._connection.unreadable(error, self._key)
        self._resumed += 1
        rest = f"bytes={self._position}-"
        try:
            answer = self._connection.call("get_object", self._key, Range=rest, IfMatch=self.etag)
        except RefusedError as refusal:
            if refusal.missing or refusal.http_status == 412:
                raise self._connection.fault("it was changed while it was read", self._key) from None
            raise
        self._stream = answer["Body"]
        if not str(answer.get("ContentRange", "")).startswith(f"bytes {self._position}-"):
            raise self._connection.fault("it was asked for the rest of an object, and gives another", self._key)
