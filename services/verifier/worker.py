"""A worker process: judges payloads one by one within a bound of memory, and says what it found on standard output.

It is started by `process.Worker` with its options as JSON in the first argument, dies with its parent, and ends when
standard input does.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from rl_gym.infra.errors import InfrastructureError, RlGymError
from services.verifier.frames import Answer, Kind, pack_answer, read_chunks
from services.verifier.judging import Judge

__all__ = ["OUT_OF_MEMORY", "main"]

OUT_OF_MEMORY = 86
"""The exit code of a worker that reached its bound of memory; what it holds then is not worth keeping."""

SLICE_SECONDS = 0.02
"""After so much processor time a worker hands back what it has not begun of a chunk, for another request to have its
turn."""

LONGEST_SLICE_SECONDS = 0.05
"""It does so after this time by the clock as well: answers travel together, and wait no longer for the next ones."""

_LONGEST_DETAIL = 1_000

_PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str]) -> int:
    options = json.loads(arguments[0])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(options["parent"])
    answers = _take_standard_output()
    try:
        judge = Judge(options["environments"], options["compiler"])
    except RlGymError as error:
        _say(answers, pack_answer(_refusal(error)))
        return 1
    _bound_memory(options["memory_bytes"])
    # What is loaded by now stays: the collector need not look at it for every completion.
    gc.collect()
    gc.freeze()
    _say(answers, pack_answer(Answer(Kind.READY)))
    for task, payloads in read_chunks(sys.stdin.buffer):
        _work(judge, task, payloads, answers, options["progress"])
    return 0


def _work(judge: Judge, task: Mapping[str, Any], payloads: Sequence[bytes], answers: BinaryIO, progress: int) -> None:
    """Answer a slice of a chunk; the number of what is being judged stands in the file `progress` meanwhile."""
    waiting: list[bytes] = []
    ends, spent = time.monotonic() + LONGEST_SLICE_SECONDS, time.process_time() + SLICE_SECONDS
    for number, payload in enumerate(payloads, start=1):
        os.pwrite(progress, bytes((number,)), 0)
        waiting.append(pack_answer(_answer(judge, task, payload)))
        if time.process_time() > spent or time.monotonic() > ends:
            break
    _say(answers, *waiting, pack_answer(Answer(Kind.END)))


def _answer(judge: Judge, task: Mapping[str, Any], payload: bytes) -> Answer:
    try:
        return Answer(Kind.JUDGED, judge.answer(task, payload))
    except Exception as error:
        _leave_if_out_of_memory(error)
        if not isinstance(error, RlGymError):
            error = InfrastructureError(f"{type(error).__name__}: {error}")
        return _refusal(error)


def _refusal(error: RlGymError) -> Answer:
    kind = Kind.FAULT if isinstance(error, InfrastructureError) else Kind.REFUSED
    return Answer.error(kind, error.code, str(error)[:_LONGEST_DETAIL], error.status)


def _leave_if_out_of_memory(error: BaseException) -> None:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            os._exit(OUT_OF_MEMORY)
        cause = cause.__cause__ or cause.__context__


def _die_with(parent: int) -> None:
    """Be killed when the parent goes, however it goes (Linux; elsewhere the end of standard input must do)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent has gone already")


def _take_standard_output() -> BinaryIO:
    """The stream for answers; whatever else prints from now on goes to standard error and garbles nothing."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stream


def _say(stream: BinaryIO, *answers: bytes) -> None:
    stream.write(b"".join(answers))
    stream.flush()


def _bound_memory(extra_bytes: int) -> None:
    """Allow so much address space beyond what is used now; then allocation fails with MemoryError."""
    if sys.platform == "linux":
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + extra_bytes, used + extra_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
