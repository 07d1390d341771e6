"""Objects by key, with the two conditional writes on which everything durable rests: create-only and compare-and-swap.

`open_store` answers with the store behind an address, a folder or a prefix in S3; whoever programs against
`ObjectStore` need not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import unquote, urlsplit

from rl_gym.infra.errors import UsageError
from rl_gym.infra.extras import extra

__all__ = [
    "MAX_BODY_BYTES",
    "MAX_KEY_LENGTH",
    "ObjectStore",
    "Source",
    "Stored",
    "check_key",
    "check_prefix",
    "is_key",
    "open_store",
]

MAX_KEY_LENGTH = 512
MAX_BODY_BYTES = 64 << 20

_SEGMENT = re.compile(r"[A-Za-z0-9_=@+-][A-Za-z0-9._=@+-]{0,199}")


@dataclass(frozen=True, slots=True)
class Stored:
    """A body as it was read, with the tag that a later `replace` must name.

    A tag means something to its store alone. It may be that of the content: the same body again has the same tag.
    """

    body: bytes
    etag: str


class Source(Protocol):
    """What a body may be read from: an open binary file, a response."""

    def read(self, size: int, /) -> bytes: ...


class ObjectStore(Protocol):
    """What every store promises, across threads, processes and crashes.

    A reader sees a whole body, an old or a new one. A write that returned survives a crash. Keys are paths of plain
    segments (`check_key`); no key may be a folder of another (`a` beside `a/b`): a folder refuses it with a
    ConflictError, S3 does not notice. Every method raises UsageError for a key outside that grammar,
    InfrastructureError where the store itself fails. ConflictError means that a write did not take place;
    after an InfrastructureError that is not known.
    """

    def get(self, key: str, *, max_bytes: int = MAX_BODY_BYTES) -> Stored:
        """Read a whole object. Raises NotFoundError; UsageError where it is larger than `max_bytes`: `open` it."""
        ...

    def open(self, key: str) -> BinaryIO:
        """A stream over an object of any size, for the caller to close. Raises NotFoundError."""
        ...

    def put(self, key: str, body: bytes | Source) -> str:
        """Write, whatever was there; a stream is read to its end. Returns the new tag."""
        ...

    def create(self, key: str, body: bytes | Source) -> str:
        """Write only where there is nothing. Returns the tag; raises ConflictError where the key exists."""
        ...

    def replace(self, key: str, body: bytes | Source, etag: str) -> str:
        """Write only over the object that has this tag. Returns the new tag; raises ConflictError for any other."""
        ...

    def exists(self, key: str) -> bool: ...

    def list(self, prefix: str = "") -> Iterator[str]:
        """Keys that begin with `prefix`, in byte order."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object; one that is not there is no error."""
        ...


def check_key(key: str) -> str:
    """The key itself, where it is relative, plain (letters, digits, `._=@+-`), without hidden or parent segments.

    Raises UsageError for any other, so that a key can never name something outside its store.
    """
    if len(key) > MAX_KEY_LENGTH:
        raise UsageError(f"object key of {len(key)} characters; at most {MAX_KEY_LENGTH} are allowed")
    if not is_key(key):
        raise UsageError(f"object key {key!r}: segments of letters, digits and ._=@+- are needed, none hidden or empty")
    return key


def is_key(text: str) -> bool:
    """Whether `check_key` takes it."""
    return len(text) <= MAX_KEY_LENGTH and all(_SEGMENT.fullmatch(segment) for segment in text.split("/"))


def check_prefix(prefix: str) -> str:
    """The prefix itself, where keys may begin with it. Raises UsageError for a folder that no key can lie in."""
    folder = prefix.rpartition("/")[0]
    if folder:
        check_key(folder)
    return prefix


def open_store(address: str) -> ObjectStore:
    """The store at an address.

    A folder is named by a plain path or as `file:///absolute/path`, and made where it is missing. S3 is named as
    `s3://bucket/prefix?endpoint=URL&region=NAME&read_only=true`, of which only the bucket is needed.

    Raises UsageError for an address of any other kind, InfrastructureError for a store that is not as it should be.
    """
    if address.startswith("s3:"):
        with extra("s3"):
            from rl_gym.infra.s3.place import Place
            from rl_gym.infra.s3_store import S3Store
        return S3Store(Place.of(address))
    try:
        parts = urlsplit(address)
    except ValueError:
        raise UsageError("the address of the object store is neither a path nor a URL") from None
    if not address or (parts.scheme and parts.scheme != "file") or parts.netloc not in ("", "localhost"):
        # Not the address itself: it may hold what is secret.
        raise UsageError(
            "object store: a folder is needed, as a path or as file:///absolute/path, or s3://bucket/prefix"
        )
    # A folder store locks files, which only POSIX systems can: not imported before it is asked for.
    from rl_gym.infra.folder_store import FolderStore

    return FolderStore(Path(unquote(parts.path) if parts.scheme else address))
