"""The cache of fetched models: the files in the object store by their digest, and what a source's name stands for.

Under `weights/KEY.json` lies which digest a source had when it was first fetched, so that every machine and every later
run gets that one. Beside the local copies lies the same, for when the store cannot be asked.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from rl_gym.gym.files import read_document, replace_text
from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, RlGymError, UsageError
from rl_gym.infra.object_store import ObjectStore
from rl_gym.serving.adapters import fetch, publish
from rl_gym.wire.message import FullDigest, Line, Message

__all__ = ["Known", "stored"]

_MAX_BYTES = 64 << 10
_log = logging.getLogger(__name__)

Fetch = Callable[[Path, str], str]
"""Fill a folder with the model's files, at a revision where one is given; the revision that it was."""


class Known(Message):
    """What a source stood for when it was fetched."""

    source: Line
    revision: Line = ""
    digest: FullDigest


def stored(
    source: str,
    store: ObjectStore | None,
    cache: Path,
    fetch_anew: Fetch,
    *,
    expected: str = "",
    repeatable: bool = True,
) -> tuple[Path, str]:
    """The folder of a source's model and its digest: from here, else from the store, else fetched anew and stored.

    `expected` is the digest that it must have; without `repeatable`, another than before is as good. What fails of the
    store is logged, and the run goes on. Raises UsageError where the source does not hold any more what it held, and
    whatever `fetch_anew` raises.
    """
    key = hashlib.sha256(source.encode()).hexdigest()
    with _alone(cache, key):
        there = _known_to(store, key)
        known = Known(source=source, digest=expected) if expected else there or _known_here(cache, key)
        folder = _copy_of(known, store, cache)
        if known is None or folder is None:
            known = _fetched(source, known, cache, fetch_anew, repeatable)
            folder = cache / known.digest
            fills = True
        else:
            fills = there is None
        if store is not None and fills:
            folder, known = _filled(store, key, known, folder, cache, repeatable)
        replace_text(cache / f"{key}.json", known.model_dump_json())
        return folder, known.digest


def _copy_of(known: Known | None, store: ObjectStore | None, cache: Path) -> Path | None:
    if known is None:
        return None
    try:
        return fetch(store, known.digest, cache) if store is not None else _here(known, cache)
    except NotFoundError:
        return None
    except InfrastructureError as error:
        _log.warning("%s is fetched anew: %s", known.source, error)
        return None


def _here(known: Known, cache: Path) -> Path | None:
    folder = cache / known.digest
    return folder if folder.is_dir() and tree_digest(folder) == known.digest else None


def _fetched(source: str, known: Known | None, cache: Path, fetch_anew: Fetch, repeatable: bool) -> Known:
    partial = cache / f".{uuid.uuid4().hex}"
    try:
        partial.mkdir()
        revision = fetch_anew(partial, known.revision if known else "")
        found = Known(source=source, revision=revision, digest=tree_digest(partial))
        if repeatable and known and found.digest != known.digest:
            raise UsageError(
                f"{source} is not what it was: sha256 {found.digest} instead of {known.digest}; "
                "name the revision or the digest that is meant"
            )
        if _here(found, cache) is None:
            shutil.rmtree(cache / found.digest, ignore_errors=True)
            partial.rename(cache / found.digest)
        return found
    except OSError as error:
        raise InfrastructureError(f"{source}: {cache}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _filled(
    store: ObjectStore, key: str, known: Known, folder: Path, cache: Path, repeatable: bool
) -> tuple[Path, Known]:
    """Store a model for others; gives what the source stands for from now on, which another may have decided."""
    body = known.model_dump_json().encode()
    try:
        publish(store, folder)
        if not repeatable:
            store.put(_key(key), body)
            return folder, known
        first = _first(store, key, body) or known
        if first.digest != known.digest:
            return fetch(store, first.digest, cache), first
    except RlGymError as error:
        _log.warning("%s is used, but could not be stored for others: %s", known.source, error)
    return folder, known


def _first(store: ObjectStore, key: str, body: bytes) -> Known | None:
    """Say what a source is, unless that is said already: then this is it. What cannot be read counts as not said."""
    try:
        store.create(_key(key), body)
    except ConflictError:
        said = store.get(_key(key), max_bytes=_MAX_BYTES)
        try:
            return Known.model_validate_json(said.body)
        except ValidationError:
            store.replace(_key(key), body, said.etag)
    return None


def _known_to(store: ObjectStore | None, key: str) -> Known | None:
    try:
        return Known.model_validate_json(store.get(_key(key), max_bytes=_MAX_BYTES).body) if store else None
    except NotFoundError:
        return None
    except (RlGymError, ValidationError) as error:
        _log.warning("the object store does not say what a model is: %s", error)
        return None


def _known_here(cache: Path, key: str) -> Known | None:
    try:
        return Known.model_validate(read_document(cache / f"{key}.json"))
    except (RlGymError, ValidationError):
        return None


def _key(key: str) -> str:
    return f"weights/{key}.json"


@contextmanager
def _alone(cache: Path, key: str) -> Iterator[None]:
    """One process of a machine fetches a source at a time; the others then find it here."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = (cache / f"{key}.lock").open("w")
    except OSError as error:
        raise InfrastructureError(f"{cache}: {error.strerror or error}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
