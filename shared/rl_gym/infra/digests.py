"""The digests by which files and folders are known to be whole, and are named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

__all__ = ["combined_digest", "file_digest", "file_names", "tree_digest"]


def file_digest(path: Path) -> str:
    """SHA-256, in hex, of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def file_names(folder: Path) -> list[str]:
    """Every file below `folder`, as sorted relative paths."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def combined_digest(files: Mapping[str, str]) -> str:
    """SHA-256, in hex, over the names and digests of files."""
    return hashlib.sha256(json.dumps(dict(files), sort_keys=True).encode()).hexdigest()


def tree_digest(folder: Path) -> str:
    """The combined digest of every file below `folder`: a model's identity."""
    return combined_digest({name: file_digest(folder / name) for name in file_names(folder)})
