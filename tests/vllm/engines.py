"""A supervised vLLM on the CPU, kept up by a loop of its own beside the tests, and what one can ask of it."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx

from rl_gym.serving.backends.vllm import VllmBackend
from rl_gym.serving.weights import find_model
from services.policy.supervision import Device, EngineFlags, Supervisor

__all__ = ["MODEL", "PYTHON", "Hosted", "hosted", "until"]

T = TypeVar("T")

PYTHON = Path(__file__).resolve().parents[2] / ".venv-vllm" / "bin" / "python"
MODEL = "nano"
_SECONDS = 240


class Hosted:
    """A supervisor, and the loop in which it lives."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the supervisor's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_SECONDS)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def backend(self) -> VllmBackend:
        """A new client; greedy is reproducible in float32 on the CPU."""
        return VllmBackend(
            self.supervisor.address, api_key=self.supervisor.api_key, deterministic_greedy=True, seconds=60
        )

    async def requests(self) -> int:
        """How many requests the engine works on or keeps waiting."""
        # Without certificates, whose reading takes longer than a short request does.
        async with httpx.AsyncClient(trust_env=False, verify=False) as client:
            text = (await client.get(self.supervisor.address.removesuffix("v1") + "metrics")).text
        names = ("vllm:num_requests_running", "vllm:num_requests_waiting{")
        return int(sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(names)))

    def processes(self) -> dict[int, str]:
        """The processes of its session, by id, with their command lines."""
        process = self.supervisor._process
        return {} if process is None else dict(_session(process.pid))

    def kill(self, word: str) -> None:
        """End the process whose command line has a word, as nobody expects it."""
        [pid] = [pid for pid, words in self.processes().items() if word in words and "guard.py" not in words]
        os.kill(pid, signal.SIGKILL)


def _session(leader: int) -> Iterator[tuple[int, str]]:
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            words = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if int(stat[3]) == leader and stat[0] != "Z":
            yield int(entry), words


@contextmanager
def hosted(device: Device = "cpu", **flags: Any) -> Iterator[Hosted]:
    """A supervisor that has begun; its engine serves the packaged nano model, and can be given two adapters."""
    weights = str(find_model(MODEL))
    chosen = {"dtype": "float32", "enforce_eager": True, "enable_lora": True, "max_loras": 2, "max_lora_rank": 8}
    engine = EngineFlags(model=weights, served_model_name=MODEL, **{**chosen, **flags})
    host = Hosted(Supervisor(PYTHON, engine, device))
    try:
        host.call(host.supervisor.open())
        yield host
    finally:
        left = host.processes()
        host.call(host.supervisor.close())
        host.end()
        assert not [pid for pid in left if Path(f"/proc/{pid}").exists()]


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that has to come true."""
    async with asyncio.timeout(_SECONDS):
        while not condition():
            await asyncio.sleep(0.02)
