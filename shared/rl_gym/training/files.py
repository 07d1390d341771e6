"""What a run leaves on disk: JSON lines, every failure one clear line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rl_gym.gym.files import replacing
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.text_files import split_lines

__all__ = ["read_rows", "write_rows", "writing"]


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a refusal of the disk (full, read-only) while making `path` into one line that names it."""
    try:
        yield
    except OSError as error:
        raise InfrastructureError(f"{path}: could not be written: {error.strerror or error}") from error


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines, whole or not at all; InfrastructureError where the disk refuses."""
    with replacing(path) as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """JSON lines; NotFoundError without the file, UsageError (`file:line: why`) where one is damaged."""
    try:
        lines = split_lines(path.read_text("utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file") from None
    except ValueError as error:
        raise UsageError(f"{path}: no text: {error}") from None
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise UsageError(f"{path}:{number}: no JSON: {error}") from None
    return rows
