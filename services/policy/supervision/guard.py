"""Runs a program, and leaves nothing of it: `python guard.py PROGRAM ARGUMENT...`.

Whatever the program started ends with it, in whatever process group; and all of it ends at once when standard input
does, since whoever holds the other end is gone then, however that went. SIGTERM is passed on to the program. It exits
as the program does, with 128 and its number for a signal. Linux and the standard library alone: it is run by its path.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

_PR_SET_CHILD_SUBREAPER = 36


def main(command: Sequence[str]) -> int:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: program.terminate())
    changes = select.poll()
    changes.register(sys.stdin.fileno(), select.POLLIN)
    changes.register(os.pidfd_open(program.pid), select.POLLIN)
    changes.poll()
    code = program.poll()
    _end_descendants()
    if code is None:
        return 128 + signal.SIGKILL
    return code if code >= 0 else 128 - code


def _end_descendants() -> None:
    """Kill every child until there is none: the children of a killed one become ours."""
    while children := list(_children()):
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _children() -> Iterator[int]:
    ours = str(os.getpid())
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as stat:
            # The second field is a name in parentheses, and may hold anything.
            if stat.read().rpartition(")")[2].split()[1] == ours:
                yield int(entry)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
