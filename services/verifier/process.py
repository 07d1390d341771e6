"""One worker process as the service sees it: started, given chunks, watched, and killed when it is late."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from rl_gym.infra.errors import InfrastructureError
from services.verifier.frames import Answer, AnswerReader, Kind, pack_chunk
from services.verifier.tasks import Task
from services.verifier.worker import LONGEST_SLICE_SECONDS, OUT_OF_MEMORY

__all__ = ["Worker", "WorkerGoneError", "WorkerLimits"]

_START_SECONDS = 60
_END_SECONDS = 2
_READ_BYTES = 1 << 20
_MOST_BUNDLES = 32
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "PYTHONDONTWRITEBYTECODE")
"""All that a worker sees of the environment: no credentials, and no address of anything."""


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """`seconds` for one payload, `memory_bytes` beyond what an idle worker needs, `payloads` until it is replaced."""

    seconds: float
    memory_bytes: int
    payloads: int


class WorkerGoneError(InfrastructureError):
    """The worker is no more. `cause` (`late`, `memory`, `died`) is for counting, the message for people."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause
        self.begun = 0
        """How many payloads of the chunk it had begun: the last of them is what it was at when it went."""


class Worker:
    """A running process. Make it with `start`; one caller at a time gives it work."""

    def __init__(self, process: asyncio.subprocess.Process, limits: WorkerLimits, progress: BinaryIO) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._limits, self._progress = process, limits, progress
        self._stdin, self._stdout = process.stdin, process.stdout
        self._reader = AnswerReader()
        self._bundles: set[str] = set()
        self._answered = 0

    @classmethod
    async def start(cls, environments: Sequence[str], compiler: str, limits: WorkerLimits) -> Worker:
        """A worker that has loaded what it needs. Raises InfrastructureError where it does not come up."""
        progress = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        options = {
            "environments": list(environments),
            "compiler": compiler,
            "memory_bytes": limits.memory_bytes,
            "parent": os.getpid(),
            "progress": progress.fileno(),
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "services.verifier.worker", json.dumps(options)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=[progress.fileno()],
            limit=_READ_BYTES,
            env=_environment(),
            # Ctrl-C in a terminal goes to the whole group; the service decides when its workers end.
            start_new_session=True,
        )
        worker = cls(process, limits, progress)
        try:
            first, *_ = await worker._hear(_START_SECONDS)
            if first.kind is not Kind.READY:
                raise InfrastructureError(f"a worker cannot begin: {json.loads(first.body)['detail']}")
        except BaseException:
            await worker.kill()
            raise
        return worker

    @property
    def worn(self) -> bool:
        """Whether another should take its place: what leaks, leaks a little a payload."""
        return self._answered >= self._limits.payloads or len(self._bundles) >= _MOST_BUNDLES

    @property
    def pid(self) -> int:
        return self._process.pid

    async def work(self, task: Task, payloads: Sequence[bytes], answers: list[Answer]) -> None:
        """Have a chunk done; what is answered is added to `answers` as it comes, in order, and may be less than all.

        Raises WorkerGoneError where the process died, or was killed since one payload took too long.
        """
        self._answered += len(payloads)
        os.pwrite(self._progress.fileno(), b"\0", 0)
        try:
            with contextlib.suppress(ConnectionError):
                self._stdin.write(pack_chunk(self._header(task), payloads))
                await self._stdin.drain()
            while not await self._take_answers(answers, len(payloads)):
                pass
        except WorkerGoneError as gone:
            gone.begun = os.pread(self._progress.fileno(), 1, 0)[0]
            raise

    async def _take_answers(self, answers: list[Answer], most: int) -> bool:
        """Add the next answers; whether they were the last ones."""
        for answer in await self._hear(self._limits.seconds + LONGEST_SLICE_SECONDS):
            if answer.kind is Kind.END:
                return True
            if len(answers) == most:
                await self.kill()
                raise WorkerGoneError("died", "its worker answered more than it was asked")
            answers.append(answer)
        return False

    def _header(self, task: Task) -> dict[str, Any]:
        header: dict[str, Any] = {"name": task.name, "options": task.options}
        if task.bundle is not None and task.bundle[0] not in self._bundles:
            self._bundles.add(task.bundle[0])
            header["bundle"] = task.bundle
        return header

    async def _hear(self, seconds: float) -> list[Answer]:
        """The next answers, at least one."""
        answers: list[Answer] = []
        while not answers:
            try:
                async with asyncio.timeout(seconds):
                    data = await self._stdout.read(_READ_BYTES)
                answers = list(self._reader.feed(data))
            except TimeoutError:
                await self.kill()
                raise WorkerGoneError("late", f"it took longer than {seconds:.3g} s and was stopped") from None
            except ValueError as error:
                await self.kill()
                raise WorkerGoneError("died", f"its worker answered nonsense: {error}") from None
            if not data:
                raise await self._gone()
        return answers

    async def _gone(self) -> WorkerGoneError:
        # A signal to a process that is ending would take its exit code from whoever waits for it.
        await self._ended()
        code = self._process.returncode
        if code == OUT_OF_MEMORY:
            return WorkerGoneError("memory", f"it needed more than {self._limits.memory_bytes >> 20} MiB of memory")
        return WorkerGoneError("died", f"its worker ended with code {code}")

    async def kill(self) -> None:
        """End it now, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        self._stdin.close()

    async def retire(self) -> None:
        """End an idle worker."""
        self._stdin.close()
        await self._ended()

    async def _ended(self) -> None:
        """Wait for a process that is about to end; one that does not is killed."""
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            await self.kill()


def _environment() -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
    }
