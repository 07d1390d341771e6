"""The object store in S3, or in any server that speaks its protocol and keeps its conditional writes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import BinaryIO

from rl_gym.infra.errors import ConflictError, NotFoundError, UsageError
from rl_gym.infra.object_store import MAX_BODY_BYTES, Source, Stored, check_key, check_prefix, is_key
from rl_gym.infra.s3.connection import Connection, RefusedError
from rl_gym.infra.s3.place import Place
from rl_gym.infra.s3.probe import check_readable, check_upload_condition, check_writes
from rl_gym.infra.s3.reading import Body
from rl_gym.infra.s3.writing import ANY, NEW, PART_BYTES, Condition, filled, same, send, upload

__all__ = ["S3Store"]

_READ_BYTES = 1 << 20
# One tag alone: `*` and lists of tags would mean any object, or several.
_TAG = re.compile(r'"[\x21\x23-\x7e]{1,200}"')


class S3Store:
    """An `ObjectStore` below a prefix of a bucket, which processes of many machines may share.

    Credentials, and what the address leaves out, are found by boto3. Conditions are S3's own, `If-None-Match` and
    `If-Match`; a server that ignores them is refused when the store is opened. Large bodies go in parts. The tag is the
    ETag. S3 has no folders: a key that is the folder of another is not noticed here.
    """

    def __init__(self, place: Place) -> None:
        self._connection = Connection(place)
        (check_readable if place.read_only else check_writes)(self._connection)

    def get(self, key: str, *, max_bytes: int = MAX_BODY_BYTES) -> Stored:
        with self._body(key) as body, io.BufferedReader(body, _READ_BYTES) as stream:
            if body.size > max_bytes:
                raise UsageError(f"object {key!r} is larger than {max_bytes} bytes: read it as a stream")
            return Stored(stream.read(body.size), body.etag)

    def open(self, key: str) -> BinaryIO:
        return io.BufferedReader(self._body(key), _READ_BYTES)

    def put(self, key: str, body: bytes | Source) -> str:
        return self._write(key, body, ANY)

    def create(self, key: str, body: bytes | Source) -> str:
        return self._write(key, body, NEW)

    def replace(self, key: str, body: bytes | Source, etag: str) -> str:
        check_key(key)
        if not _TAG.fullmatch(etag):
            raise ConflictError(f"object {key!r} is not the one that was read")
        return self._write(key, body, same(etag))

    def exists(self, key: str) -> bool:
        # A HEAD would tell a missing bucket as it tells a missing object. Of all keys that begin so, this is the first.
        prefix = self._connection.place.prefix + check_key(key)
        found = self._connection.call("list_objects_v2", Prefix=prefix, MaxKeys=1)
        return any(entry["Key"] == prefix for entry in found.get("Contents", ()))

    def list(self, prefix: str = "") -> Iterator[str]:
        above = self._connection.place.prefix
        asked = {"Prefix": above + check_prefix(prefix)}
        last = ""
        while True:
            page = self._connection.call("list_objects_v2", **asked)
            for entry in page.get("Contents", ()):
                key = entry["Key"][len(above) :]
                if key <= last:
                    raise self._connection.fault("it lists keys in another order than that of their bytes")
                last = key
                # What else lies in the bucket is not of this store.
                if is_key(key):
                    yield key
            if not page.get("IsTruncated"):
                return
            asked["ContinuationToken"] = page["NextContinuationToken"]

    def delete(self, key: str) -> None:
        self._check_writable(key)
        self._connection.call("delete_object", key)

    def _body(self, key: str) -> Body:
        try:
            answer = self._connection.call("get_object", check_key(key))
        except RefusedError as refusal:
            if refusal.missing:
                raise NotFoundError(f"there is no object {key!r}") from None
            raise
        return Body(self._connection, key, answer)

    def _write(self, key: str, body: bytes | Source, condition: Condition) -> str:
        self._check_writable(key)
        source = io.BytesIO(body) if isinstance(body, bytes) else body
        first = filled(source, PART_BYTES, key)
        if len(first) < PART_BYTES:
            return send(self._connection, key, first, condition)
        for name in condition.arguments:
            check_upload_condition(self._connection, name)
        return upload(self._connection, key, first, source, condition)

    def _check_writable(self, key: str) -> None:
        check_key(key)
        if self._connection.place.read_only:
            raise UsageError(f"object store {self._connection.place} is opened to read only: {key!r} is not changed")
