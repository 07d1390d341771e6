"""Writes to S3 that know their own success: an answer that was lost on the way makes no conflict with oneself."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rl_gym.infra.errors import ConflictError, InfrastructureError, RlGymError, UsageError
from rl_gym.infra.object_store import Source
from rl_gym.infra.s3.connection import Connection, RefusedError

__all__ = ["ANY", "NEW", "PART_BYTES", "Condition", "filled", "same", "send", "tag", "upload"]

PART_BYTES = 8 << 20
"""The size of the first parts, and the least of a body that is sent in parts."""

_MOST_PARTS = 10_000
_PARTS_OF_A_SIZE = 1_000
_WRITER = "rl-gym-write"
_CONFLICT = "ConditionalRequestConflict"
_CONFLICTS = 5
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Condition:
    """On what a write depends, as arguments of boto3, and what is said of the object where that does not hold."""

    arguments: Mapping[str, str]
    otherwise: str


ANY = Condition({}, "is written by others, too")
NEW = Condition({"IfNoneMatch": "*"}, "exists already")


def same(etag: str) -> Condition:
    """That the object has this tag."""
    return Condition({"IfMatch": etag}, "is not the one that was read")


def filled(source: Source, size: int, key: str) -> bytes:
    """The next `size` bytes, or fewer at the end. Raises InfrastructureError where the source fails."""
    chunks, missing = [], size
    try:
        while missing and (chunk := source.read(missing)):
            chunks.append(chunk)
            missing -= len(chunk)
    except OSError as error:
        raise InfrastructureError(f"object store, {key!r}: {error.strerror or error}") from error
    return b"".join(chunks)


def send(connection: Connection, key: str, body: bytes, condition: Condition) -> str:
    """Write a body in one request. Returns the tag; raises ConflictError where the condition does not hold."""
    writer = uuid.uuid4().hex

    def put() -> dict[str, Any]:
        return connection.call("put_object", key, Body=body, Metadata={_WRITER: writer}, **condition.arguments)

    return _decided(connection, key, writer, condition, put, _CONFLICTS)


def upload(connection: Connection, key: str, first: bytes, rest: Source, condition: Condition) -> str:
    """As `send`, in parts: `first`, and what is still in a source. No more than a part is in memory.

    Whatever fails, the parts are given up.
    """
    writer = uuid.uuid4().hex
    begun = connection.call("create_multipart_upload", key, Metadata={_WRITER: writer})["UploadId"]
    try:
        parts: list[dict[str, Any]] = []
        body = first
        while body:
            number = len(parts) + 1
            if number > _MOST_PARTS:
                raise UsageError(f"object {key!r} is larger than S3 takes in {_MOST_PARTS} parts")
            sent = connection.call("upload_part", key, UploadId=begun, PartNumber=number, Body=body)
            parts.append({"PartNumber": number, "ETag": sent.get("ETag", "")})
            body = filled(rest, _part_bytes(number + 1), key)

        def complete() -> dict[str, Any]:
            together = {"Parts": parts}
            return connection.call(
                "complete_multipart_upload", key, UploadId=begun, MultipartUpload=together, **condition.arguments
            )

        # After a conflict S3 wants all parts again, and the source was read.
        return _decided(connection, key, writer, condition, complete, 1)
    except BaseException:
        with suppress(RlGymError):
            connection.call("abort_multipart_upload", key, UploadId=begun)
        raise


def tag(connection: Connection, key: str, answer: Mapping[str, Any]) -> str:
    """The tag in an answer, in quotes as S3 writes it. Raises InfrastructureError where there is none."""
    etag = str(answer.get("ETag", "")).strip('"')
    if not etag:
        raise connection.fault("it answered without an ETag", key)
    return f'"{etag}"'


def _decided(
    connection: Connection,
    key: str,
    writer: str,
    condition: Condition,
    write: Callable[[], dict[str, Any]],
    tries: int,
) -> str:
    for attempt in range(tries):
        try:
            return tag(connection, key, write())
        except RefusedError as refusal:
            if not _tells_of_another(refusal, condition):
                raise
            if refusal.retried:
                return _own(connection, key, writer)
            if refusal.reason != _CONFLICT:
                break
        # Something else was going on with this key, and nothing is decided yet.
        if attempt + 1 < tries:
            time.sleep(random.uniform(0, _PAUSE_SECONDS * 2**attempt))
    raise ConflictError(f"object {key!r} {condition.otherwise}")


def _tells_of_another(refusal: RefusedError, condition: Condition) -> bool:
    """Whether another write stands in the way: perhaps this very one, of which the answer was lost."""
    if refusal.reason == "NoSuchUpload":
        return refusal.retried
    gone = refusal.missing and "IfMatch" in condition.arguments
    return gone or refusal.http_status == 412 or refusal.reason == _CONFLICT


def _own(connection: Connection, key: str, writer: str) -> str:
    """The tag of the object, if it is this writer's. Where it is not, this one may have been before it, or never."""
    try:
        found = connection.call("head_object", key)
    except RefusedError as refusal:
        if not refusal.missing:
            raise
        found = {}
    if found.get("Metadata", {}).get(_WRITER) == writer:
        return tag(connection, key, found)
    raise connection.fault("an answer was lost, and whether this write took place is not known: read it again", key)


def _part_bytes(number: int) -> int:
    """The size of a part, counted from 1: it grows, so that a model of any size fits into the number S3 allows."""
    return PART_BYTES * (1 + (number - 1) // _PARTS_OF_A_SIZE)
