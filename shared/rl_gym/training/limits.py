"""Limits of a job: the memory that its processes hold together, and the time that it takes."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rl_gym.training.machine import MachineSection
from rl_gym.training.out_of_memory import knob

__all__ = ["Limits", "resident_bytes"]

_GIB = 1 << 30
_SAMPLE_SECONDS = 0.5
_PAGE_FIELD, _PARENT_FIELD = 21, 1
"""Of `/proc/PID/stat`, counted behind the name of the program."""


class Limits:
    """Watches a process and all below it, and has it stopped where it passes a limit. Without limits it does nothing.

    Memory is sampled: what is held for less than half a second may pass unseen.
    """

    def __init__(self, pid: int, job: str, machine: MachineSection, stop: Callable[[], None]) -> None:
        self.passed: str | None = None
        """Which limit was passed and what to turn, in one line."""

        self._pid, self._job, self._machine, self._stop = pid, job, machine, stop
        self._ended = threading.Event()
        self._began = time.monotonic()
        if machine.memory_gib is not None or machine.job_seconds is not None:
            threading.Thread(target=self._watch, name="limits", daemon=True).start()

    def end(self) -> None:
        """Watch no more."""
        self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(_SAMPLE_SECONDS):
            self.passed = self._too_large() or self._too_long()
            if self.passed:
                self._stop()
                return

    def _too_large(self) -> str | None:
        limit = self._machine.memory_gib
        if limit is None:
            return None
        held = resident_bytes(self._pid) / _GIB
        if held <= limit:
            return None
        return (
            f"held {held:.2f} GiB of memory where machine.memory_gib allows {limit:g}: "
            f"raise machine.memory_gib, or {knob(self._job)}"
        )

    def _too_long(self) -> str | None:
        limit = self._machine.job_seconds
        if limit is None or time.monotonic() - self._began <= limit:
            return None
        return f"took longer than the {limit:g} s that machine.job_seconds allows: raise it, or lower the job's steps"


def resident_bytes(pid: int) -> int:
    """Resident memory of a process and all below it, by `/proc`; pages that they share count for each of them.

    0 where there is no such process, or no `/proc`.
    """
    pages: dict[int, int] = {}
    below: dict[int, list[int]] = defaultdict(list)
    for status in Path("/proc").glob("[0-9]*/stat"):
        # Processes end while one looks.
        with suppress(OSError, ValueError, IndexError):
            fields = status.read_text("utf-8", "replace").rpartition(")")[2].split()
            number = int(status.parent.name)
            pages[number] = int(fields[_PAGE_FIELD])
            below[int(fields[_PARENT_FIELD])].append(number)
    total, waiting = 0, [pid]
    while waiting:
        number = waiting.pop()
        total += pages.get(number, 0)
        waiting += below[number]
    return total * os.sysconf("SC_PAGE_SIZE")
