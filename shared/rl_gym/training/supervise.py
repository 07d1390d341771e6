"""Training happens in child processes: this starts them, listens to them, and neither outlives nor leaves them.

A child reports on its standard output, one JSON object a line; everything else it prints goes to the run's log. A crash
of the child is one line here and a traceback there; a child that was killed leaves its last lines in that line, too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any

from rl_gym.gym.files import replace_text
from rl_gym.infra.errors import InfrastructureError, revived
from rl_gym.infra.tether import tethered
from rl_gym.training import launch
from rl_gym.training.child_log import ChildLog, shown
from rl_gym.training.limits import Limits
from rl_gym.training.out_of_memory import knob, ran_out

__all__ = ["Report", "inherited", "run_jobs"]

Report = Callable[[Mapping[str, Any]], None]

CHILD: tuple[str, ...] = ("-m", "rl_gym.training.child")
"""What Python runs for a job; it is given the job's file and our process id."""

_GRACE_SECONDS = 5.0
_CHECK_SECONDS = 0.5
_FREED_MEMORY_STAYS = {
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(8 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}
"""For glibc: generation frees and asks again for its whole attention cache at each token, and mapping fresh pages costs
as much as the arithmetic on them."""

_QUIET = {
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "PYTHONUNBUFFERED": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "warning",
    "TRL_EXPERIMENTAL_SILENCE": "1",
}

_inherited: ContextVar[tuple[int, ...]] = ContextVar("inherited", default=())


@contextmanager
def inherited(*descriptors: int) -> Iterator[None]:
    """Let the children that are started meanwhile hold these files open, too, for as long as each of them lives.

    A lock by flock is so theirs as well: whoever outlives us, by a freeze of ours or a moment, keeps it.
    """
    token = _inherited.set((*_inherited.get(), *descriptors))
    try:
        yield
    finally:
        _inherited.reset(token)


def run_jobs(
    jobs: Sequence[tuple[Path, Mapping[str, Any]]],
    *,
    log: Path,
    threads: int,
    report: Report,
    check: Callable[[], None] = lambda: None,
    processes: int = 1,
) -> None:
    """Run jobs in child processes, `processes` at once, each with `threads` threads, and wait for all.

    A job is the path where its description is written for the child, and the description. `report` gets every message
    of every child, one at a time; `check` is called every half second. When a child fails, the caller is interrupted,
    or either of them raises, all are stopped. Raises, for the first that failed, what the child told where that is of
    the family of RlGymError, such as UsageError, else InfrastructureError.
    """
    children: list[_Child] = []
    stopping = threading.Event()
    serial = threading.Lock()
    # Seen by this thread alone.
    descriptors = _inherited.get()

    def one(path: Path, job: Mapping[str, Any]) -> None:
        if stopping.is_set():
            return
        replace_text(path, json.dumps(dict(job), indent=2) + "\n")
        child = _Child(path, job, log, threads, descriptors)
        children.append(child)
        try:
            if stopping.is_set():
                child.stop()
            for message in child.messages():
                with serial:
                    report(message)
            child.finish(log)
        except BaseException:
            stopping.set()
            child.stop()
            raise

    with ThreadPoolExecutor(max_workers=processes) as pool, _terminable():
        futures = [pool.submit(one, path, job) for path, job in jobs]
        try:
            waiting: set[Future[None]] = set(futures)
            while waiting:
                done, waiting = wait(waiting, _CHECK_SECONDS, FIRST_COMPLETED)
                for future in done:
                    future.result()
                check()
        except BaseException:
            stopping.set()
            for child in list(children):
                child.stop()
            raise


class _Child:
    """A job at work: one process, or a launcher with several below it; and the failures that they reported."""

    def __init__(
        self, path: Path, job: Mapping[str, Any], log: Path, threads: int, descriptors: Sequence[int] = ()
    ) -> None:
        count = str(threads)
        environment = os.environ | _QUIET | _FREED_MEMORY_STAYS | {"OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count}
        command = launch.command(job, CHILD, [str(path), str(os.getpid())])
        self._world = launch.world_of(job)
        self._name = path.parent.name
        self._log = ChildLog(log)
        try:
            self._process = subprocess.Popen(
                # A launcher knows nothing of us: what it starts dies with it, and it dies with us.
                command if self._world == 1 else tethered(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment | launch.environment(job),
                pass_fds=descriptors,
                start_new_session=True,
            )
        except OSError as error:
            self._log.close()
            raise InfrastructureError(
                f"{self._name}: its process cannot be started: {error.strerror or error}"
            ) from None
        assert self._process.stderr is not None
        self._log.follow(self._process.stderr)
        self._limits = Limits(self._process.pid, self._name, launch.machine_of(job), self.stop)
        self._failures: list[Mapping[str, Any]] = []

    def messages(self) -> Iterator[Mapping[str, Any]]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                # Cut off in the middle of a line: the exit code tells why.
                continue
            if "failure" in message:
                self._failures.append(message)
            else:
                yield message

    def finish(self, log: Path) -> None:
        code = self._process.wait()
        self._limits.end()
        lines = self._log.lines()
        if code != 0 or self._limits.passed:
            # What was a mistake in the process stays one: another attempt would make it again.
            kind = "" if self._limits.passed or not self._said else self._said.get("code", "")
            raise revived(kind, f"{self._name}{self._reason(code, lines)}; see {log}", InfrastructureError.status)

    @property
    def _said(self) -> Mapping[str, Any] | None:
        """The first failure that is a process's own."""
        return next((failure for failure in self._failures if not failure.get("lost")), None)

    def _reason(self, code: int, lines: Sequence[str]) -> str:
        """Why it ended: what the watch saw, what a process said, or else how the first of them was ended."""
        if self._limits.passed:
            return f": {self._limits.passed}"
        if self._said is not None:
            return f" failed: {self._who(self._said.get('rank', 0))}{self._said['failure']}"
        fallen = launch.fallen_rank(lines) if self._world > 1 else None
        if fallen is not None and fallen[0] not in [failure.get("rank") for failure in self._failures]:
            return f": {self._end(self._who(fallen[0]), fallen[1], launch.own_lines(lines))}"
        if self._failures:
            rank, lost = self._failures[0].get("rank", 0), self._failures[0]["failure"]
            return f" failed: {self._who(rank)}another process of the training is gone: {lost}"
        return f": {self._end('', code, lines)}"

    def _who(self, rank: int) -> str:
        return f"rank {rank} of {self._world}: " if self._world > 1 else ""

    def _end(self, who: str, code: int, lines: Sequence[str]) -> str:
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        if code == -signal.SIGKILL:
            # What the kernel does where memory ran out; nothing tells it from a kill by a person.
            how = f"{how} (if memory ran out: {knob(self._name)})"
        elif ran_out("".join(lines)):
            how = f"{how}, out of memory: {knob(self._name)}"
        last = shown(lines)
        return f"{who}its process ended with {how}{f'; its last lines: {last}' if last else ''}"

    def stop(self) -> None:
        self._limits.end()
        if self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def _terminable() -> Iterator[None]:
    """While children run, SIGTERM ends us as Ctrl-C does, so that they are stopped and not left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
