"""The training child: `python -m rl_gym.training.child JOB.json PARENT_PID` does one job and reports on its stdout.

It is the only process that imports TRL. It dies with its parent; whatever libraries print goes to the run's log. Where
several train together, each is such a child below one launcher, and the first of them alone reports.
"""

from __future__ import annotations

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
from rl_gym.infra.errors import InfrastructureError, RlGymError
from rl_gym.infra.tether import end_with_parent
from rl_gym.training.out_of_memory import knob, ran_out

__all__ = ["Channel", "main"]

_FULL_BELOW = 1 << 20
_LONGEST_FAILURE = 1_000
_PEER_IS_GONE = ("Connection closed by peer", "Connection reset by peer", "Broken pipe", "NCCL", "TCPStore", "gloo/")


class Channel:
    """The line to the parent, one JSON object each: `done` of `total`, `metrics` at a `step`, a `note`, a `failure`.

    Of several processes that train together the first, of rank 0, says how it goes; each may say why it failed.
    """

    def __init__(self, stream: IO[str], rank: int = 0) -> None:
        self._stream = stream
        self._rank = rank

    @classmethod
    def take_stdout(cls, rank: int = 0) -> Channel:
        """Keep standard output for reports; whatever else is printed joins standard error, which is the log."""
        sys.stdout.flush()
        stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        return cls(stream, rank)

    def progress(self, job: str, done: float, total: float) -> None:
        self._send({"job": job, "done": done, "total": total})

    def metrics(self, job: str, step: int, values: Mapping[str, float]) -> None:
        self._send({"job": job, "step": step, "metrics": dict(values)})

    def resumed(self, job: str, step: int) -> None:
        """Say that training goes on after `step`: what was reported of later steps is void."""
        self._send({"job": job, "resumed": step})

    def note(self, job: str, text: str) -> None:
        """Say what a person should read while the job goes on; it stands in the log too."""
        if self._rank == 0:
            print(f"{job}: {text}", file=sys.stderr, flush=True)
        self._send({"job": job, "note": text})

    def failure(self, detail: str, code: str, *, lost: bool = False) -> None:
        """Say why this process fails, with the word of its kind of error; `lost` where another process is gone."""
        self._write({"failure": detail[:_LONGEST_FAILURE], "code": code, "rank": self._rank, "lost": lost})

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._rank == 0:
            self._write(message)

    def _write(self, message: Mapping[str, Any]) -> None:
        # At once, so that lines of several processes do not mix.
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()


def main(arguments: list[str]) -> int:
    """Do the job described in the file `arguments[0]` for the process `arguments[1]`; 0 when it is done."""
    launched = "TORCHELASTIC_RUN_ID" in os.environ
    channel = Channel.take_stdout(int(os.environ["RANK"]) if launched else 0)
    _die_with(int(arguments[1]), launched=launched)
    path = Path(arguments[0])
    job: Mapping[str, Any] = {}
    try:
        job = read_document(path)
        _run(job, channel)
    except Exception as error:
        short = _disk_full(error, path.parent) or _short_of_memory(error, job)
        code = error.code if isinstance(error, RlGymError) and not short else InfrastructureError.code
        channel.failure(short or _one_line(error), code, lost=launched and _lost_another(error))
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
    elif kind == "rollout":
        from rl_gym.training.rollouts import roll_out

        roll_out(job, channel)
    elif kind == "repair-turn":
        from rl_gym.training.second_turns import answer_again

        answer_again(job, channel)
    else:
        raise RlGymError(f"the training child knows no job {kind!r}")


def _die_with(parent: int, *, launched: bool) -> None:
    """Have the kernel end this process when what started it ends (Linux); leave at once if it already has.

    That is `parent`, or where this process was `launched`, a launcher whose parent is `parent`.
    """
    end_with_parent(signal.SIGKILL)
    if (_grandparent() if launched else os.getppid()) != parent:
        raise SystemExit(1)


def _grandparent() -> int | None:
    """The process that started the one that started this; None where that has ended (told by `/proc`)."""
    try:
        return int(Path(f"/proc/{os.getppid()}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
    except FileNotFoundError:
        return None


def _lost_another(error: Exception) -> bool:
    """Whether an error is about the connection to another process of the training."""
    return any(words in str(error) for words in _PEER_IS_GONE)


def _disk_full(error: Exception, folder: Path) -> str | None:
    """One line where a full disk is behind `error`, in whichever shape torch, safetensors or Python report it."""
    told = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if told or "No space left on device" in str(error) or shutil.disk_usage(folder).free < _FULL_BELOW:
        return f"no space left on the disk of {folder}: free some, then resume the run"
    return None


def _short_of_memory(error: Exception, job: Mapping[str, Any]) -> str | None:
    return f"out of memory: {knob(str(job.get('name', '')))}" if ran_out(error) else None


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else ""
    return text if isinstance(error, RlGymError) else f"{type(error).__name__}: {text}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
