"""Small documents on disk: written whole or not at all, read within a bound, every failure one clear line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError

__all__ = ["read_document", "replace_text", "replacing"]

MAX_DOCUMENT_BYTES = 64 << 20


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose content takes the place of `path` at the end, at once; on any failure the old file stays.

    Raises InfrastructureError where the disk refuses (full, read-only).
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise InfrastructureError(f"{path}: could not be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as file:
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
