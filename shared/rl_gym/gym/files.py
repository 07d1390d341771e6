"""Small documents on disk: written whole or not at all, read within a bound, every failure one clear line."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError

__all__ = ["read_document", "replace_text", "replacing"]

MAX_DOCUMENT_BYTES = 64 << 20


@contextmanager
def replacing(path: Path, *, parents: bool = True) -> Iterator[IO[bytes]]:
    """A stream whose content takes the place of `path` at the end, at once; on any failure the old file stays.

    A link stays, and what it leads to is replaced by a file of the same mode; a device or a pipe is written into.
    `parents` makes the folders above where they are missing. Raises InfrastructureError where the disk refuses (full,
    read-only).
    """
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        if parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            _succeed(target, partial)
        partial.replace(target)
    except OSError as error:
        raise InfrastructureError(f"{path}: could not be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _succeed(old: Path, new: Path) -> None:
    """Give a new file the mode of the old one, which has to be one that may be written."""
    if not os.access(old, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    new.chmod(stat.S_IMODE(old.stat().st_mode))


def replace_text(path: Path, text: str, *, parents: bool = True) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path, parents=parents) as file:
        file.write(text.encode())


def read_document(path: Path) -> dict[str, Any]:
    """A JSON object; NotFoundError where there is no file, UsageError where it holds anything else or is too large."""
    try:
        if path.stat().st_size > MAX_DOCUMENT_BYTES:
            raise UsageError(f"larger than {MAX_DOCUMENT_BYTES} bytes")
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise NotFoundError("no such file") from None
    except OSError as error:
        raise UsageError(error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"no JSON: {error}") from None
    if not isinstance(content, dict):
        raise UsageError("no JSON object")
    return content
