"""Training happens in child processes: this starts them, listens to them, and neither outlives nor leaves them.

A child reports on its standard output, one JSON object a line; everything else it prints goes to the run's log. A crash
of the child is one line here and a traceback there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rl_gym.gym.files import replace_text
from rl_gym.infra.errors import InfrastructureError

__all__ = ["Report", "run_jobs"]

Report = Callable[[Mapping[str, Any]], None]

CHILD: tuple[str, ...] = ("-m", "rl_gym.training.child")
"""What Python runs for a job; it is given the job's file and our process id."""

_GRACE_SECONDS = 5.0
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


def run_jobs(
    jobs: Sequence[tuple[Path, Mapping[str, Any]]],
    *,
    log: Path,
    threads: int,
    report: Report,
    processes: int = 1,
) -> None:
    """Run jobs in child processes, `processes` at once, each with `threads` threads, and wait for all.

    A job is the path where its description is written for the child, and the description. `report` gets every message
    of every child, one at a time. When a child fails, or the caller is interrupted, the others are stopped. Raises
    InfrastructureError for the first that failed.
    """
    children: list[_Child] = []
    stopping = threading.Event()
    serial = threading.Lock()

    def one(path: Path, job: Mapping[str, Any]) -> None:
        if stopping.is_set():
            return
        replace_text(path, json.dumps(dict(job), indent=2) + "\n")
        child = _Child(path, log, threads)
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
            for future in as_completed(futures):
                future.result()
        except BaseException:
            stopping.set()
            for child in list(children):
                child.stop()
            raise


class _Child:
    """One child process and the failure that it reported, if any."""

    def __init__(self, config: Path, log: Path, threads: int) -> None:
        count = str(threads)
        environment = os.environ | _QUIET | _FREED_MEMORY_STAYS | {"OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count}
        with log.open("ab") as stream:
            self._process = subprocess.Popen(
                [sys.executable, *CHILD, str(config), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stream,
                env=environment,
                start_new_session=True,
            )
        self._name = config.parent.name
        self._failure: str | None = None

    def messages(self) -> Iterator[Mapping[str, Any]]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                # Cut off in the middle of a line: the exit code tells why.
                return
            if "failure" in message:
                self._failure = message["failure"]
            else:
                yield message

    def finish(self, log: Path) -> None:
        code = self._process.wait()
        if code == 0:
            return
        if self._failure is not None:
            raise InfrastructureError(f"{self._name} failed: {self._failure}; see {log}")
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise InfrastructureError(f"{self._name}: its process ended with {how}; see {log}")

    def stop(self) -> None:
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
