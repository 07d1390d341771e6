"""Warm worker processes that answer a JSON line with a JSON line: bounded, killed when late, made anew when they die.

A worker runs hostile text through somebody else's program, so it is trusted with nothing: the one who asks holds the
clock, and whatever is wrong with a worker ends with its death.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rl_gym.iac.engines.bounded_process import OutputTooLongError, ProcessLateError, read_pipe

__all__ = ["Limits", "WorkerDiedError", "WorkerLateError", "WorkerPool", "WorkerUnableError"]

_MOST_BYTES = 64 << 20


class WorkerDiedError(Exception):
    """A worker ended, or said what is no answer."""


class WorkerLateError(Exception):
    """A worker did not answer in time."""


class WorkerUnableError(Exception):
    """A worker cannot work at all: its greeting was an `error`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a worker may take to start, and after how many jobs, or at how many bytes, another takes its place."""

    start_seconds: float = 60.0
    jobs: int = 5_000
    memory: int = 600 << 20


class _Worker:
    def __init__(self, command: Sequence[str], environment: Mapping[str, str], seconds: float) -> None:
        # A session of its own: Ctrl-C at a terminal is for the one who asks.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            env=dict(environment),
            start_new_session=True,
            bufsize=0,
        )
        self.jobs = 0
        try:
            self.greeting = self._answer(seconds)
            if "error" in self.greeting:
                raise WorkerUnableError(self.greeting["error"])
        except BaseException:
            self.discard()
            raise

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        self.jobs += 1
        try:
            # A worker that waits for a job reads it at once, so that this never blocks for long.
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise WorkerDiedError(str(error)) from None
        return self._answer(seconds)

    def _answer(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        try:
            received = read_pipe(
                self._process.stdout.fileno(), ends=time.monotonic() + seconds, most=_MOST_BYTES, until=b"\n"
            )
        except ProcessLateError:
            raise WorkerLateError(f"no answer in {seconds:g} s") from None
        except OutputTooLongError as error:
            raise WorkerDiedError(f"it answered {error}") from None
        if not received.endswith(b"\n"):
            raise WorkerDiedError(f"its process ended with status {self._status()}")
        try:
            answer = json.loads(received)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise WorkerDiedError("its answer is no JSON object on a line")
        return answer

    def _status(self) -> int:
        """How it ended; it is made to where it only closed its output."""
        try:
            return self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def kill(self) -> None:
        """End its process; who waits for its answer hears of that."""
        self._process.kill()
        self._process.wait()

    def discard(self) -> None:
        """Kill it where nobody waits for its answer."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class WorkerPool:
    """At most `size` workers, started when they are first needed, each with one job at a time. Safe from any thread.

    A worker's last argument is the process that started it. It says a JSON object when it is ready, its greeting, and
    after each job an object whose `memory` is what it holds, in bytes. It must end when its standard input does.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], size: int, limits: Limits | None = None
    ) -> None:
        self._command, self._environment, self._limits = command, environment, limits or Limits()
        self._size = size
        self._forget()
        atexit.register(self.close)
        # A fork's pipes are its parent's: two processes that read one pipe would take each other's answers.
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._slots = threading.BoundedSemaphore(self._size)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._alive: set[_Worker] = set()

    def ask(self, request: Mapping[str, Any], seconds: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """The answer of a worker, and its greeting; once more by another where the first one dies.

        Raises WorkerLateError after `seconds`, from when a worker has the job, WorkerDiedError and WorkerUnableError.
        """
        with self._slots:
            try:
                return self._ask(request, seconds)
            except WorkerDiedError:
                return self._ask(request, seconds)

    def _ask(self, request: Mapping[str, Any], seconds: float) -> tuple[dict[str, Any], dict[str, Any]]:
        worker = self._take()
        try:
            answer = worker.ask(request, seconds)
        except BaseException:
            self._discard(worker)
            raise
        worn_out = worker.jobs >= self._limits.jobs or answer.get("memory", 0) > self._limits.memory
        with self._lock:
            # The pool may have been closed meanwhile.
            stays = worker in self._alive and not worn_out
            if stays:
                self._idle.append(worker)
        if not stays:
            self._discard(worker)
        return answer, worker.greeting

    def _take(self) -> _Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        worker = _Worker([*self._command, str(os.getpid())], self._environment, self._limits.start_seconds)
        with self._lock:
            self._alive.add(worker)
        return worker

    def _discard(self, worker: _Worker) -> None:
        with self._lock:
            self._alive.discard(worker)
        worker.discard()

    def close(self) -> None:
        """End every worker; the next job starts one again."""
        with self._lock:
            alive, idle = self._alive, self._idle
            self._alive, self._idle = set(), []
        for worker in idle:
            worker.discard()
        for worker in alive.difference(idle):
            worker.kill()
