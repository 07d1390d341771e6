"""The training child: `python -m rl_gym.training.child JOB.json PARENT_PID` does one job and reports on its stdout.

It is the only process that imports TRL. It dies with its parent; whatever libraries print goes to the run's log.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from rl_gym.gym.files import read_document
from rl_gym.infra.errors import RlGymError

__all__ = ["Channel", "main"]

_PR_SET_PDEATHSIG = 1
_FULL_BELOW = 1 << 20


class Channel:
    """The line to the parent. One JSON object a line: `done` of `total`, `metrics` at a `step`, or a `failure`."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    @classmethod
    def take_stdout(cls) -> Channel:
        """Keep standard output for reports; whatever else is printed joins standard error, which is the log."""
        sys.stdout.flush()
        stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        return cls(stream)

    def progress(self, job: str, done: float, total: float) -> None:
        self._send({"job": job, "done": done, "total": total})

    def metrics(self, job: str, step: int, values: Mapping[str, float]) -> None:
        self._send({"job": job, "step": step, "metrics": dict(values)})

    def resumed(self, job: str, step: int) -> None:
        """Say that training goes on after `step`: what was reported of later steps is void."""
        self._send({"job": job, "resumed": step})

    def failure(self, detail: str) -> None:
        self._send({"failure": detail})

    def _send(self, message: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()


def main(arguments: list[str]) -> int:
    """Do the job described in the file `arguments[0]` for the process `arguments[1]`; 0 when it is done."""
    channel = Channel.take_stdout()
    _die_with(int(arguments[1]))
    path = Path(arguments[0])
    try:
        _run(read_document(path), channel)
    except Exception as error:
        channel.failure(_disk_full(error, path.parent) or _one_line(error))
        with suppress(OSError):
            traceback.print_exc()
        return 1
    return 0


def _run(job: Mapping[str, Any], channel: Channel) -> None:
    kind = job["kind"]
    if kind == "sft":
        from rl_gym.training.trainers import train_sft

        train_sft(job, channel)
    elif kind == "grpo":
        from rl_gym.training.trainers import train_grpo

        train_grpo(job, channel)
    elif kind == "evaluate":
        from rl_gym.training.rollouts import evaluate_model

        evaluate_model(job, channel)
    else:
        raise RlGymError(f"the training child knows no job {kind!r}")


def _die_with(parent: int) -> None:
    """Have the kernel end this process when the parent does (Linux); leave at once if it already has."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit(1)


def _disk_full(error: Exception, folder: Path) -> str | None:
    """One line where a full disk is behind `error`, in whichever shape torch, safetensors or Python report it."""
    told = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if told or "No space left on device" in str(error) or shutil.disk_usage(folder).free < _FULL_BELOW:
        return f"no space left on the disk of {folder}: free some, then resume the run"
    return None


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else ""
    return text if isinstance(error, RlGymError) else f"{type(error).__name__}: {text}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
