"""A vLLM server as a child process: what it is started with, what it said last, and its end, with all that it began."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog

from rl_gym.infra.errors import InfrastructureError
from services.policy.supervision.ladder import Device

__all__ = ["SHUTDOWN_SECONDS", "EngineProcess", "command", "environment"]

SHUTDOWN_SECONDS = 20
"""What a stopping vLLM leaves to requests in flight; with none, a stop during a request may hang."""

_KILL_SECONDS = 10
_LAST_WORDS_SECONDS = 1
_MOST_LINES = 400
_LONGEST_LINE = 1_000
_READ_BYTES = 1 << 16

_PASSED_ON = (
    *("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "LD_PRELOAD"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HF_HOME", "HF_HUB_CACHE"),
)
_PASSED_ON_PREFIXES = ("VLLM_", "CUDA_", "NVIDIA_", "NCCL_", "OMP_", "TORCH_", "TORCHINDUCTOR_", "TRITON_")
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD")

_log = structlog.get_logger(__name__)


def command(python: Path, port: int, arguments: Sequence[str]) -> list[str]:
    """The command line of a server on loopback."""
    ours = ["--host", "127.0.0.1", "--port", str(port), "--shutdown-timeout", str(SHUTDOWN_SECONDS)]
    return [
        *(str(python), "-m", "vllm.entrypoints.openai.api_server"),
        *(*ours, "--disable-uvicorn-access-log", *arguments),
    ]


def environment(inherited: Mapping[str, str], device: Device, api_key: str) -> dict[str, str]:
    """All that a server sees of the environment: its own key is the only secret, and nothing is fetched or reported."""
    kept = {
        name: value
        for name, value in inherited.items()
        if (name in _PASSED_ON or name.startswith(_PASSED_ON_PREFIXES))
        and not any(word in name for word in _SECRET_WORDS)
    }
    cpu = {
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": ",".join(map(str, sorted(os.sched_getaffinity(0)))),
    }
    return {
        **(cpu if device == "cpu" else {}),
        **kept,
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        # With -m, Python would look for modules in the working folder first.
        "PYTHONSAFEPATH": "1",
        "VLLM_API_KEY": api_key,
    }


class EngineProcess:
    """A running server. Make it with `start`; `stop` or `kill` leave nothing of it."""

    def __init__(self, guard: asyncio.subprocess.Process, output: int) -> None:
        assert guard.stdin is not None
        self._guard, self._stdin = guard, guard.stdin
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._reading = asyncio.create_task(self._read(output))

    @classmethod
    async def start(cls, command: Sequence[str], device: Device, api_key: str) -> EngineProcess:
        """Begin. Raises InfrastructureError where there is no such program."""
        if sys.platform != "linux":
            raise InfrastructureError("vLLM is started on Linux alone: start it yourself, and give its address")
        if not os.access(command[0], os.X_OK):
            raise InfrastructureError(f"there is no Python at {command[0]}: make one with vLLM, or give its path")
        # Not a pipe of asyncio's: with one, the end of the guard is not told before whoever else holds the pipe ends.
        output, its_output = os.pipe()
        try:
            guard = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(Path(__file__).with_name("guard.py")), *command),
                stdin=asyncio.subprocess.PIPE,
                stdout=its_output,
                stderr=its_output,
                env=environment(os.environ, device, api_key),
                # Ctrl-C in a terminal goes to the whole group; the service decides when its engine ends.
                start_new_session=True,
            )
        except BaseException:
            os.close(output)
            raise
        finally:
            os.close(its_output)
        return cls(guard, output)

    @property
    def lines(self) -> Sequence[str]:
        """What it printed last."""
        return tuple(self._lines)

    @property
    def pid(self) -> int:
        """Of the process group."""
        return self._guard.pid

    async def wait(self) -> str:
        """Wait until it ended, for whatever reason, and say how."""
        code = await self._guard.wait()
        self._kill_group()
        await asyncio.wait({self._reading}, timeout=_LAST_WORDS_SECONDS)
        number = code - 128 if code > 128 else -code
        if number > 0:
            return f"killed by {signal.Signals(number).name}"
        return f"ended with code {code}"

    async def stop(self, seconds: float) -> None:
        """Let it finish what it is at, and kill it after so many seconds."""
        with contextlib.suppress(ProcessLookupError):
            self._guard.terminate()
        try:
            async with asyncio.timeout(seconds):
                await self.wait()
        except TimeoutError:
            _log.warning("engine did not stop in time", seconds=seconds)
            await self.kill()

    async def kill(self) -> None:
        """End it now, whatever it does."""
        self._stdin.close()
        try:
            async with asyncio.timeout(_KILL_SECONDS):
                await self.wait()
        except TimeoutError:
            self._kill_group()

    def _kill_group(self) -> None:
        """For the case that the guard itself was killed."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._guard.pid, signal.SIGKILL)

    async def _read(self, output: int) -> None:
        stream = asyncio.StreamReader()
        with os.fdopen(output, "rb", buffering=0) as pipe:
            protocol = asyncio.StreamReaderProtocol(stream)
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
            try:
                await self._keep_lines(stream)
            finally:
                transport.close()

    async def _keep_lines(self, stream: asyncio.StreamReader) -> None:
        rest = ""
        while data := await stream.read(_READ_BYTES):
            *lines, rest = (rest + data.decode(errors="replace")).replace("\r", "\n").split("\n")
            rest = rest[:_LONGEST_LINE]
            for line in filter(str.strip, lines):
                self._lines.append(line[:_LONGEST_LINE])
                _log.debug("engine says", line=line[:_LONGEST_LINE])
