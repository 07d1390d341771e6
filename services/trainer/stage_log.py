"""What the processes of a stage print, for who cannot look onto the worker's disk: its end is stored with the stage."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from rl_gym.infra.errors import RlGymError, revived
from rl_gym.infra.object_store import ObjectStore
from rl_gym.training.child_log import hidden
from rl_gym.training.run import Run
from services.trainer.artifacts import store_log
from services.trainer.work import Work

__all__ = ["kept_log"]

_log = structlog.get_logger("stages")

_MOST_BYTES = 256 << 10


@contextmanager
def kept_log(store: ObjectStore, run: Run, stage: str, work: Work) -> Iterator[None]:
    """Store what is printed meanwhile, whatever comes of it; an error then names that, and not a path of this disk."""
    begin = run.log.stat().st_size if run.log.exists() else 0
    try:
        yield
    except RlGymError as error:
        path, fetched = str(run.log), f"`rl-gym runs log {run.folder.name} {stage}`"
        if path not in str(error):
            raise
        raise revived(error.code, str(error).replace(path, fetched), error.status) from error
    finally:
        # Another attempt that has taken the place of this one keeps its own.
        if work.reason != "lost":
            _store(store, run, stage, begin)


def _store(store: ObjectStore, run: Run, stage: str, begin: int) -> None:
    try:
        printed = _end_of(run.log, begin)
        if printed:
            store_log(store, run.folder.name, stage, printed)
    except (RlGymError, OSError) as error:
        _log.warning("the log of a stage is not kept", run=run.folder.name, stage=stage, reason=str(error))


def _end_of(path: Path, begin: int) -> bytes:
    """The last lines of a file from a place on, without the secrets of this environment."""
    if not path.exists():
        return b""
    with path.open("rb") as stream:
        cut = max(begin, path.stat().st_size - _MOST_BYTES)
        stream.seek(cut)
        text = stream.read(_MOST_BYTES)
    if cut > begin:
        # The rest of a line could be that of a secret.
        text = text.partition(b"\n")[2]
    return hidden(text.decode("utf-8", "replace"), os.environ).encode()
