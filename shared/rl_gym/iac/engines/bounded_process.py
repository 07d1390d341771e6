"""Programs of others, run with a clock, a bound on what they print, and an end for all that they started."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["OutputTooLongError", "ProcessLateError", "read_pipe", "run"]

_MOST_OUTPUT = 16 << 20
_MOST_MEMORY = 6 << 30
_MOST_FILE = 1 << 30


class ProcessLateError(Exception):
    """It did not end, or answer, in time."""


class OutputTooLongError(Exception):
    """It printed more than is read."""


def run(command: Sequence[str], *, folder: Path, environment: Mapping[str, str], ends: float) -> tuple[int, bytes]:
    """Run a program in a folder until `ends` of the monotonic clock: its exit status and what it printed.

    Whatever it leaves behind in its process group is killed. Raises ProcessLateError, OutputTooLongError, OSError.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        bufsize=0,
    )
    assert process.stdout is not None
    try:
        for name, value in (
            (resource.RLIMIT_AS, _MOST_MEMORY),
            (resource.RLIMIT_FSIZE, _MOST_FILE),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.prlimit(process.pid, name, (value, value))
        output = read_pipe(process.stdout.fileno(), ends=ends, most=_MOST_OUTPUT)
        return process.wait(max(0.0, ends - time.monotonic())), output
    except subprocess.TimeoutExpired:
        raise ProcessLateError from None
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def read_pipe(pipe: int, *, ends: float, most: int, until: bytes | None = None) -> bytes:
    """Read until what was read ends with `until`, or the pipe does.

    Raises ProcessLateError at `ends` of the monotonic clock and OutputTooLongError after `most` bytes.
    """
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    received = bytearray()
    while until is None or not received.endswith(until):
        left = ends - time.monotonic()
        if left <= 0 or not ready.poll(left * 1000):
            raise ProcessLateError
        part = os.read(pipe, 1 << 16)
        if not part:
            break
        received += part
        if len(received) > most:
            raise OutputTooLongError(f"more than {most >> 20} MiB")
    return bytes(received)
