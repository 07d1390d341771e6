"""A module's files in a folder of their own, for engines that read a disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ModuleFolder", "module_folder"]

_RAM = Path("/dev/shm")  # noqa: S108 - a folder of ours is made in it


@dataclass(frozen=True, slots=True)
class ModuleFolder:
    """`path` holds the files, and nothing else; `beside` is an empty folder for what the engine itself needs."""

    path: Path
    beside: Path
    given: Mapping[str, str]
    """The caller's name of each file, by its path below `path`."""

    def name(self, path: str) -> str:
        """A file as the caller named it; `path` is absolute, or below the folder."""
        below = os.path.relpath(path, self.path) if os.path.isabs(path) else os.path.normpath(path)
        return self.given.get(below, below)


@contextmanager
def module_folder(files: Mapping[str, str]) -> Iterator[ModuleFolder]:
    """Write the files, in memory where the machine has a folder for that; all of it is gone at the end.

    Names may be absolute or lead upward: what counts is how they lie to each other. Raises ValueError for names that
    are no files' names and OSError where they cannot be written.
    """
    placed = _places(files)
    ram = str(_RAM) if os.access(_RAM, os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(prefix="rl-gym-", dir=ram) as folder:
        module, beside = Path(folder, "module"), Path(folder, "beside")
        module.mkdir()
        beside.mkdir()
        for name, text in files.items():
            path = module / placed[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        yield ModuleFolder(module, beside, {path: name for name, path in placed.items()})


def _places(files: Mapping[str, str]) -> dict[str, str]:
    """A path below the folder for each file."""
    normal = {name: os.path.normpath(name) for name in files}
    if any(os.path.isabs(path) or path.split("/")[0] == ".." for path in normal.values()):
        normal = {name: os.path.abspath(path) for name, path in normal.items()}
        base = os.path.commonpath([os.path.dirname(path) for path in normal.values()])
        normal = {name: os.path.relpath(path, base) for name, path in normal.items()}
    if len(set(normal.values())) < len(normal):
        raise ValueError("two of the files are one file by different names")
    return normal
