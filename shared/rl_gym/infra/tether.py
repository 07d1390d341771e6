"""Programs that end with the process that started them, however that ends: kill -9 included."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

__all__ = ["end_with_parent", "tethered"]

_PR_SET_PDEATHSIG = 1
_PROGRAM = f"""\
import ctypes, os, signal, sys
ctypes.CDLL(None, use_errno=True).prctl({_PR_SET_PDEATHSIG}, signal.SIGTERM)
if os.getppid() != int(sys.argv[1]):
    sys.exit("its parent has ended")
os.execvp(sys.argv[2], sys.argv[2:])
"""
"""A program of its own, since between fork and exec of a process with threads no Python should run."""


def tethered(command: Sequence[str]) -> list[str]:
    """The command that runs `command`, on Linux, until it ends or gets SIGTERM because this process has ended.

    It is to be started from the main thread: the kernel sends the signal when the thread ends that started it.
    """
    if not sys.platform.startswith("linux"):
        return list(command)
    return [sys.executable, "-I", "-c", _PROGRAM, str(os.getpid()), *command]


def end_with_parent(by: signal.Signals) -> None:
    """Let the kernel send this very process the signal, on Linux, when the thread has ended that forked it."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, by.value)
