"""Whether a server keeps what an object store promises: tried once a process, for some servers ignore conditions."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache

from rl_gym.infra.errors import ConflictError, InfrastructureError, RlGymError
from rl_gym.infra.s3.connection import Connection, RefusedError
from rl_gym.infra.s3.writing import NEW, same, send, upload

__all__ = ["check_readable", "check_upload_condition", "check_writes"]

# Beside the keys, which never begin with a dot.
_FOLDER = ".rl-gym-probe"
_BODY = b"written to see whether conditions are kept; may be deleted\n"
_STALE = same('"00000000000000000000000000000000"')


@lru_cache(maxsize=64)
def check_readable(connection: Connection) -> None:
    """Raises InfrastructureError where the bucket cannot be asked."""
    connection.call("list_objects_v2", Prefix=connection.place.prefix, MaxKeys=1)


@lru_cache(maxsize=64)
def check_writes(connection: Connection) -> None:
    """Raises InfrastructureError where a create overwrites, or a replace goes over another version."""
    with _scratch(connection) as key:
        first = send(connection, key, _BODY, NEW)
        ignored = []
        if _takes(lambda: send(connection, key, b"", NEW)):
            ignored.append("If-None-Match")
        if _takes(lambda: send(connection, key, b"", _STALE)):
            ignored.append("If-Match")
        if ignored:
            raise _unsound(connection, f"ignores {' and '.join(ignored)}")
        send(connection, key, b"", same(first))


@lru_cache(maxsize=64)
def check_upload_condition(connection: Connection, condition: str) -> None:
    """As `check_writes`, for bodies in parts, and for `IfNoneMatch` or `IfMatch`: more servers ignore these."""
    with _scratch(connection) as key:
        send(connection, key, _BODY, NEW)
        name, wrong = ("If-None-Match", NEW) if condition == "IfNoneMatch" else ("If-Match", _STALE)
        if _takes(lambda: upload(connection, key, _BODY, io.BytesIO(), wrong)):
            raise _unsound(connection, f"ignores {name} where a body is sent in parts")


@contextmanager
def _scratch(connection: Connection) -> Iterator[str]:
    """A key for one object, which is gone afterwards."""
    key = f"{_FOLDER}/{uuid.uuid4().hex}"
    try:
        yield key
    except BaseException as error:
        with suppress(RlGymError):
            connection.call("delete_object", key)
        if isinstance(error, ConflictError):
            raise _unsound(connection, "refuses a write whose condition holds") from None
        if isinstance(error, RefusedError) and error.http_status in (400, 501):
            raise _unsound(connection, "does not know conditions") from None
        if isinstance(error, RefusedError) and error.http_status == 403:
            raise InfrastructureError(f"{error}; or add read_only=true to its address, to read only") from None
        raise
    connection.call("delete_object", key)


def _takes(write: Callable[[], str]) -> bool:
    try:
        write()
    except ConflictError:
        return False
    return True


def _unsound(connection: Connection, what: str) -> InfrastructureError:
    return connection.fault(f"it {what}, so that two could hold one lease: another server is needed, or a folder")
