"""Models and adapters in the object store, by the digest of all their files: stored and fetched whole, or not at all.

A model lies under `models/DIGEST/`: its files below `files/`, and a manifest of their digests, which is written last.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from pydantic import ValidationError

from rl_gym.infra.digests import file_digest, file_names, tree_digest
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.object_store import ObjectStore, Source, check_key
from rl_gym.wire.message import refusal
from rl_gym.wire.model import ModelManifest

__all__ = ["MAX_MODEL_BYTES", "SUFFIXES", "fetch", "publish"]

SUFFIXES = frozenset({".safetensors", ".json", ".txt", ".md", ".jinja"})
"""Weights in a form that runs nothing when it is read, and text."""
MAX_MODEL_BYTES = 256 << 30
_MAX_MANIFEST_BYTES = 1 << 20
_CHUNK = 1 << 20
_MOST_KEPT = 8
_ABANDONED_SECONDS = 86_400
_DIGEST = re.compile(r"[0-9a-f]{64}")


def publish(store: ObjectStore, folder: Path) -> str:
    """Store what lies in a folder; gives its digest, which is that of `tree_digest`. Storing it again changes nothing.

    Raises UsageError for a folder with files of another kind than `SUFFIXES`, with too many or too large ones, or none.
    """
    with _disk(folder):
        names = file_names(folder)
        _check_names(names)
        size = sum((folder / name).stat().st_size for name in names)
        if size > MAX_MODEL_BYTES:
            raise UsageError(f"{folder} has {size} bytes; a model may have {MAX_MODEL_BYTES}")
        try:
            manifest = ModelManifest(files={name: file_digest(folder / name) for name in names})
        except ValidationError as error:
            raise UsageError(f"{folder} is no model: {refusal(error)}") from None
        for name, digest in manifest.files.items():
            with (folder / name).open("rb") as file:
                read = _Measured(file, MAX_MODEL_BYTES)
                store.put(_key(manifest.digest, f"files/{name}"), read)
            if read.digest != digest:
                raise UsageError(f"{folder / name} was changed while it was stored")
    store.put(_key(manifest.digest, "manifest.json"), manifest.model_dump_json().encode())
    return manifest.digest


def fetch(store: ObjectStore, digest: str, cache: Path, wanted: Callable[[], bool] = lambda: True) -> Path:
    """The folder `cache/DIGEST` with the files of a stored model, fetched where it is not there or is damaged.

    Beside it the cache keeps the models that were asked for last. Raises UsageError for what is no digest,
    NotFoundError for a model that is not stored, InfrastructureError for one that is damaged or may not be loaded, and
    once it is no more `wanted`: a large model takes its time.
    """
    if not _DIGEST.fullmatch(digest):
        raise UsageError(f"a model is named by its SHA-256 in hex, not {digest[:64]!r}")
    target = cache / digest
    with _disk(target):
        if not _is_whole(target, digest):
            _fetch(store, _manifest(store, digest), target, wanted)
        os.utime(target)
        _forget_old(cache, target)
    return target


def _manifest(store: ObjectStore, digest: str) -> ModelManifest:
    try:
        body = store.get(_key(digest, "manifest.json"), max_bytes=_MAX_MANIFEST_BYTES).body
        manifest = ModelManifest.model_validate_json(body)
        _check_names(manifest.files)
    except NotFoundError:
        raise NotFoundError(f"there is no model {digest} in the object store") from None
    except ValidationError as error:
        raise InfrastructureError(f"model {digest}: its manifest is damaged: {refusal(error)}") from None
    except UsageError as error:
        raise InfrastructureError(f"model {digest} may not be loaded: {error}") from None
    if manifest.digest != digest:
        raise InfrastructureError(f"model {digest}: its manifest is that of another")
    return manifest


def _fetch(store: ObjectStore, manifest: ModelManifest, target: Path, wanted: Callable[[], bool]) -> None:
    """Make the folder beside its place, and put it there whole."""
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    damaged = partial.with_name(f"{partial.name}.damaged")
    try:
        _download(store, manifest, partial, wanted)
        if target.exists():
            target.rename(damaged)
        try:
            partial.rename(target)
        except OSError:
            # Another process was quicker.
            if not _is_whole(target, manifest.digest):
                raise
    finally:
        _discard(partial)
        _discard(damaged)


def _discard(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _download(store: ObjectStore, manifest: ModelManifest, folder: Path, wanted: Callable[[], bool]) -> None:
    room = MAX_MODEL_BYTES
    for name, digest in manifest.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with _stored(store, manifest.digest, name) as stream, path.open("xb") as file:
            read = _Measured(stream, room)
            while chunk := read.read(_CHUNK):
                if not wanted():
                    raise InfrastructureError(f"model {manifest.digest}: no more wanted, before it was fetched")
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if read.digest != digest:
            raise InfrastructureError(f"model {manifest.digest}: {name} is damaged in the object store")
        room -= read.size


@contextmanager
def _stored(store: ObjectStore, digest: str, name: str) -> Iterator[BinaryIO]:
    try:
        stream = store.open(_key(digest, f"files/{name}"))
    except NotFoundError:
        raise InfrastructureError(f"model {digest}: {name} is missing in the object store") from None
    with stream:
        yield stream


def _is_whole(folder: Path, digest: str) -> bool:
    return folder.is_dir() and tree_digest(folder) == digest


def _forget_old(cache: Path, used: Path) -> None:
    """Remove the models of the cache that were used longest ago, and what a process left that was killed in the act.

    An engine holds by itself what it has loaded.
    """
    kept = sorted(
        (path for path in cache.iterdir() if _DIGEST.fullmatch(path.name) and path != used),
        key=lambda path: path.stat().st_mtime,
        reverse=True,
    )
    abandoned = [path for path in cache.glob(".*") if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS]
    for folder in (*kept[_MOST_KEPT - 1 :], *abandoned):
        _discard(folder)


def _key(digest: str, name: str) -> str:
    return f"models/{digest}/{name}"


def _check_names(names: Iterable[str]) -> None:
    """Raises UsageError for a name that could lead elsewhere, or of a kind that may not be loaded."""
    for name in names:
        check_key(name)
        if PurePosixPath(name).suffix not in SUFFIXES:
            known = ", ".join(sorted(SUFFIXES))
            raise UsageError(f"{name} is neither weights in safetensors nor text: a model has files in {known}")


class _Measured:
    """A stream that knows size and digest of what was read of it, and gives no more than `most` bytes."""

    def __init__(self, source: Source, most: int) -> None:
        self._source, self._most = source, most
        self._sha256 = hashlib.sha256()
        self.size = 0

    def read(self, size: int, /) -> bytes:
        chunk = self._source.read(size)
        self._sha256.update(chunk)
        self.size += len(chunk)
        if self.size > self._most:
            raise InfrastructureError(f"a model of more than {MAX_MODEL_BYTES} bytes")
        return chunk

    @property
    def digest(self) -> str:
        return self._sha256.hexdigest()


@contextmanager
def _disk(path: Path) -> Iterator[None]:
    """What the disk refuses is a fault of ours, in one line."""
    try:
        yield
    except OSError as error:
        raise InfrastructureError(f"{path}: {error.strerror or error}") from error
