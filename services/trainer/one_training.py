"""One training at a time on a machine, by a lock that the training itself holds.

The database gives a machine's GPU to one attempt, and takes it back where its worker falls silent. Whose worker is
frozen, and not dead, trains on nevertheless. So its processes hold a lock on this disk, and none is started beside
them.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote

from rl_gym.infra.errors import InfrastructureError, one_line
from rl_gym.training.files import writing
from rl_gym.training.supervise import inherited
from services.trainer.settings import TrainerSettings
from services.trainer.work import Work

__all__ = ["alone_on_machine"]

_WAIT_SECONDS = 60.0
"""More than an attempt takes that is just being stopped."""

_LOOK_SECONDS = 0.5
_LONGEST = 300


@contextmanager
def alone_on_machine(settings: TrainerSettings, work: Work) -> Iterator[None]:
    """While an attempt has a resource of its machine: nobody else trains or runs a model here, nor is to.

    Raises InfrastructureError where another attempt's processes do so for a minute yet, StoppedError as `work`.
    """
    if work.lease.resource_token is None:
        yield
        return
    # By its name, since machines may share the folder.
    path = settings.runs.absolute() / f".training-{quote(settings.machine_name, safe='')}.lock"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("a+", encoding="utf-8")
    # Closed by us, the lock stays with the children that live.
    with stream, inherited(stream.fileno()):
        _take(stream, path, work)
        yield


def _take(stream: IO[str], path: Path, work: Work) -> None:
    end = time.monotonic() + _WAIT_SECONDS
    while not _is_taken(stream):
        if time.monotonic() >= end:
            stream.seek(0)
            holder = one_line(stream.read(_LONGEST), _LONGEST) or "another attempt"
            raise InfrastructureError(
                f"{holder} still trains on this machine, although its lease is over: end its worker and what that "
                f"started (`fuser {path}` tells which processes)"
            )
        work.stopped.wait(_LOOK_SECONDS)
        work.check()
    with writing(path):
        stream.truncate(0)
        lease = work.lease
        stream.write(f"run {lease.run}, stage {lease.stage}, attempt {lease.token} of worker {lease.owner}")
        stream.flush()


def _is_taken(stream: IO[str]) -> bool:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
