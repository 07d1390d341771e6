"""Checkpoints that a resumed training can trust: marked when they are whole, passed over when they no longer are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from rl_gym.gym.files import read_document, replace_text
from rl_gym.infra.digests import file_digest, file_names
from rl_gym.infra.errors import UsageError

__all__ = ["digests", "mark", "marked", "newest", "step_of"]

_MARK = "complete.json"


def mark(checkpoint: Path) -> None:
    """Record the digest of each file of a checkpoint that has been written to its end."""
    digests = {name: file_digest(checkpoint / name) for name in file_names(checkpoint) if name != _MARK}
    replace_text(checkpoint / _MARK, json.dumps(digests, indent=2))


def marked(folder: Path) -> list[Path]:
    """The checkpoints below `folder` that were written to their end, the newest first."""
    found = [checkpoint for checkpoint in folder.glob("checkpoint-*") if (checkpoint / _MARK).exists()]
    return sorted(found, key=step_of, reverse=True)


def newest(folder: Path, warn: Callable[[str], None]) -> Path | None:
    """The newest whole checkpoint below `folder`.

    `warn` is told of each newer one that was marked and is not what was marked any more: training loses those steps,
    not its sense; and where none is whole, that it starts anew. One without a mark was cut off while it was written,
    which a kill at any moment may do.
    """
    passed = 0
    for checkpoint in marked(folder):
        damaged = _damaged(checkpoint)
        if damaged is None:
            return checkpoint
        warn(f"{checkpoint} is passed over: {damaged} is damaged")
        passed += 1
    if passed:
        warn("no checkpoint is whole: the training starts anew")
    return None


def digests(checkpoint: Path) -> dict[str, str]:
    """The digests of all files of a marked checkpoint as they were then, its mark among them.

    Raises FileNotFoundError where it is gone, UsageError where the mark is damaged.
    """
    own = file_digest(checkpoint / _MARK)
    return {**read_document(checkpoint / _MARK), _MARK: own}


def step_of(checkpoint: Path) -> int:
    """The step after which a checkpoint was taken."""
    return int(checkpoint.name.rpartition("-")[2])


def _damaged(checkpoint: Path) -> str | None:
    """The first file that is not what was marked."""
    try:
        digests = read_document(checkpoint / _MARK)
    except UsageError:
        return _MARK
    for name, digest in digests.items():
        path = checkpoint / name
        if not path.is_file() or file_digest(path) != digest:
            return str(name)
    return None
