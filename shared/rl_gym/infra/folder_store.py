"""The object store that needs no server: a folder. Objects are plain files under their keys."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.object_store import MAX_BODY_BYTES, Source, Stored, check_key

__all__ = ["FolderStore"]

_CHUNK = 1 << 20
_LOCKS = 64
_ABANDONED_SECONDS = 86_400


class FolderStore:
    """An `ObjectStore` in a folder that several processes of one machine may share.

    A body is written beside the objects and renamed into place, so readers need no lock. Writers of one key exclude
    each other by `flock` on one of a fixed number of lock files. The tag is the SHA-256 of the body.
    """

    def __init__(self, root: Path) -> None:
        self._objects = root.absolute() / "objects"
        self._partial = root.absolute() / "partial"
        self._locks = root.absolute() / "locks"
        try:
            for folder in (self._objects, self._partial, self._locks):
                folder.mkdir(parents=True, exist_ok=True)
            self._sweep()
        except OSError as error:
            raise InfrastructureError(f"object store {root}: {error.strerror}") from error

    def get(self, key: str, *, max_bytes: int = MAX_BODY_BYTES) -> Stored:
        with self._reporting(key), self.open(key) as stream:
            body = stream.read(max_bytes + 1)
        if len(body) > max_bytes:
            raise UsageError(f"object {key!r} is larger than {max_bytes} bytes: read it as a stream")
        return Stored(body, hashlib.sha256(body).hexdigest())

    def open(self, key: str) -> BinaryIO:
        path = self._path(key)
        with self._reporting(key):
            try:
                return path.open("rb")
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                raise NotFoundError(f"there is no object {key!r}") from None

    def put(self, key: str, body: bytes | Source) -> str:
        with self._written(key, body) as (partial, etag), self._locked(key):
            self._publish(partial, key)
        return etag

    def create(self, key: str, body: bytes | Source) -> str:
        with self._written(key, body) as (partial, etag), self._locked(key):
            if self.exists(key):
                raise ConflictError(f"object {key!r} exists already")
            self._publish(partial, key)
        return etag

    def replace(self, key: str, body: bytes | Source, etag: str) -> str:
        with self._written(key, body) as (partial, new), self._locked(key):
            if self._etag(key) != etag:
                raise ConflictError(f"object {key!r} is not the one that was read")
            self._publish(partial, key)
        return new

    def exists(self, key: str) -> bool:
        return self._path(key).is_file()

    def list(self, prefix: str = "") -> Iterator[str]:
        with self._reporting(prefix):
            yield from sorted(key for key in self._keys(prefix.rpartition("/")[0]) if key.startswith(prefix))

    def delete(self, key: str) -> None:
        with self._locked(key):
            self._path(key).unlink(missing_ok=True)
            _sync(self._path(key).parent)

    def _sweep(self) -> None:
        """Remove what writers left that were killed in the act, a day ago or more."""
        for partial in self._partial.iterdir():
            with suppress(FileNotFoundError):
                if time.time() - partial.stat().st_mtime > _ABANDONED_SECONDS:
                    partial.unlink()

    def _path(self, key: str) -> Path:
        return self._objects / check_key(key)

    def _keys(self, folder: str) -> Iterator[str]:
        top = self._path(folder) if folder else self._objects
        for current, _, names in os.walk(top, onerror=_raise_unless_missing):
            for name in names:
                yield (Path(current) / name).relative_to(self._objects).as_posix()

    def _etag(self, key: str) -> str | None:
        try:
            with self._path(key).open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    @contextmanager
    def _written(self, key: str, body: bytes | Source) -> Iterator[tuple[Path, str]]:
        """The body on disk under a name that no key can have, and its tag; gone again if it was not published."""
        check_key(key)
        partial = self._partial / uuid.uuid4().hex
        stream = io.BytesIO(body) if isinstance(body, bytes) else body
        digest = hashlib.sha256()
        with self._reporting(key):
            try:
                with partial.open("xb") as file:
                    while chunk := stream.read(_CHUNK):
                        digest.update(chunk)
                        file.write(chunk)
                    file.flush()
                    os.fsync(file.fileno())
                yield partial, digest.hexdigest()
            finally:
                partial.unlink(missing_ok=True)

    def _publish(self, partial: Path, key: str) -> None:
        target = self._path(key)
        known = target.parent.is_dir()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.replace(target)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise ConflictError(
                f"object {key!r}: another key is a folder of it, or lies in it as in a folder"
            ) from None
        _sync(target.parent)
        if not known:
            for folder in target.parent.parents:
                _sync(folder)
                if folder == self._objects:
                    break

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        check_key(key)
        number = int(hashlib.sha256(key.encode()).hexdigest(), 16) % _LOCKS
        with self._reporting(key), (self._locks / f"{number:02}").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _reporting(self, key: str) -> Iterator[None]:
        """What the disk refuses (full, read-only, damaged) is a fault of ours, named with the key."""
        try:
            yield
        except OSError as error:
            raise InfrastructureError(f"object store, {key!r}: {error.strerror or error}") from error


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error
