"""What a stage leaves in the object store: its files, and last a manifest of their digests.

    runs/RUN/STAGE/manifest.json          what the stage ended with; there once, by a write that only creates
    runs/RUN/STAGE/DIGEST/FILE            the files, below the first digits of the digest of their manifest
    runs/RUN/STAGE/log.txt                the end of what the latest attempt's processes printed, whatever came of it

So of several attempts the first that ends counts, whole; what another has written lies elsewhere and is removed. What
is fetched is a run folder's stage again, to the byte.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rl_gym.infra.digests import file_digest
from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.object_store import ObjectStore, is_key
from rl_gym.training.files import writing
from rl_gym.training.run import MANIFEST
from rl_gym.wire.run import LOG

__all__ = [
    "Artifacts",
    "fetch_file",
    "fetch_stage",
    "open_artifact",
    "read_artifacts",
    "store_log",
    "store_stage",
]

_MAX_MANIFEST_BYTES = 4 << 20
_CHUNK = 1 << 20
_SHORT = 16


@dataclass(frozen=True, slots=True)
class Artifacts:
    """What a stage ended with: its manifest as it lies in the store, and the digests of its files by their names."""

    body: bytes
    files: Mapping[str, str]

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


def store_stage(store: ObjectStore, run: str, folder: Path) -> Artifacts:
    """Store a stage's folder that is sealed; gives the artifacts that count: another attempt's, where that was first.

    Raises InfrastructureError where the store or the disk fails: then nothing counts yet.
    """
    stage = folder.name
    with writing(folder):
        body = (folder / MANIFEST).read_bytes()
        mine = _parse(body, run, stage)
        for name in mine.files:
            with (folder / name).open("rb") as stream:
                store.put(_file_key(run, stage, mine, name), stream)
    try:
        store.create(_manifest_key(run, stage), body)
    except ConflictError:
        stands = read_artifacts(store, run, stage)
        if stands is None:
            raise InfrastructureError(f"run {run}: the manifest of stage {stage} was removed") from None
        _remove_others(store, run, stage, stands)
        return stands
    _remove_others(store, run, stage, mine)
    return mine


def store_log(store: ObjectStore, run: str, stage: str, text: bytes) -> None:
    """Keep what an attempt at a stage printed, in the place of what one before it did. Raises InfrastructureError."""
    store.put(_log_key(run, stage), text)


def read_artifacts(store: ObjectStore, run: str, stage: str) -> Artifacts | None:
    """What a stage ended with, None where it has not. Raises InfrastructureError where the manifest is damaged."""
    try:
        body = store.get(_manifest_key(run, stage), max_bytes=_MAX_MANIFEST_BYTES).body
    except NotFoundError:
        return None
    return _parse(body, run, stage)


def open_artifact(store: ObjectStore, run: str, stage: str, name: str) -> BinaryIO:
    """A stream over a file of a stage that has ended, or its log, for the caller to close. Raises NotFoundError."""
    if name == LOG:
        try:
            return store.open(_log_key(run, stage))
        except NotFoundError:
            raise NotFoundError(f"run {run}, stage {stage}: no attempt has ended yet of which a log is kept") from None
    found = read_artifacts(store, run, stage)
    if found is None or name not in found.files:
        raise NotFoundError(f"run {run}, stage {stage}: there is no file {name!r}")
    return store.open(_file_key(run, stage, found, name))


def fetch_stage(store: ObjectStore, run: str, found: Artifacts, folder: Path) -> None:
    """Make a stage's folder what it was when the stage ended: missing and changed files are fetched, others removed.

    Raises InfrastructureError where a file is missing or damaged in the store.
    """
    stage = folder.name
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # First, as long as the files are not all there the stage must not seem to stand.
        (folder / MANIFEST).unlink(missing_ok=True)
        for name, digest in found.files.items():
            path = folder / name
            if not (path.is_file() and file_digest(path) == digest):
                fetch_file(store, _file_key(run, stage, found, name), path, digest)
        for path in folder.rglob("*"):
            if path.is_file() and path.relative_to(folder).as_posix() not in found.files:
                path.unlink()
        _replace(folder / MANIFEST, found.body)


def fetch_file(store: ObjectStore, key: str, path: Path, digest: str) -> None:
    """Have a file here, whole or not at all; InfrastructureError where it is missing or damaged in the store."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        try:
            source = store.open(key)
        except NotFoundError:
            raise InfrastructureError(f"{key} is missing in the object store") from None
        with source, partial.open("xb") as file:
            while chunk := source.read(_CHUNK):
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if file_digest(partial) != digest:
            raise InfrastructureError(f"{key} is damaged in the object store")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _replace(path: Path, body: bytes) -> None:
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        partial.write_bytes(body)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _remove_others(store: ObjectStore, run: str, stage: str, stands: Artifacts) -> None:
    """Remove what attempts have written that were killed, or came too late."""
    kept = f"{_prefix(run, stage)}{stands.digest[:_SHORT]}/"
    for key in list(store.list(_prefix(run, stage))):
        if key not in (_manifest_key(run, stage), _log_key(run, stage)) and not key.startswith(kept):
            store.delete(key)


def _parse(body: bytes, run: str, stage: str) -> Artifacts:
    try:
        files = json.loads(body)["files"]
        if not all(isinstance(digest, str) and is_key(name) for name, digest in files.items()):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InfrastructureError(f"run {run}: the manifest of stage {stage} is damaged") from None
    return Artifacts(body, files)


def _prefix(run: str, stage: str) -> str:
    if "/" in run or "/" in stage:
        raise UsageError(f"there is no run {run!r} with a stage {stage!r}")
    return f"runs/{run}/{stage}/"


def _manifest_key(run: str, stage: str) -> str:
    return f"{_prefix(run, stage)}{MANIFEST}"


def _log_key(run: str, stage: str) -> str:
    return f"{_prefix(run, stage)}{LOG}"


def _file_key(run: str, stage: str, artifacts: Artifacts, name: str) -> str:
    return f"{_prefix(run, stage)}{artifacts.digest[:_SHORT]}/{name}"
