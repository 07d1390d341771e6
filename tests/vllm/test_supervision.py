"""The real engine under its supervisor: killed in mid-request, stopped in mid-request, and down the ladder."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from rl_gym.infra.errors import InfrastructureError
from rl_gym.serving.backends import Completions
from rl_gym.serving.backends.vllm import VllmBackend
from rl_gym.serving.sampling import Sampling
from tests.contract.backend_contract import PROMPTS
from tests.vllm.engines import MODEL, Hosted, hosted, until

LONG = Sampling(n=8, max_tokens=900, temperature=2.0)
SHORTER = Sampling(n=2, max_tokens=400, temperature=2.0)
_SEEN_SECONDS = 120


async def begin(backend: VllmBackend, vllm: Hosted, sampling: Sampling) -> asyncio.Task[Completions]:
    """A request that the engine is at; one that is over before it was seen there is asked anew."""
    async with asyncio.timeout(_SEEN_SECONDS):
        while True:
            task = asyncio.create_task(backend.complete(PROMPTS, sampling, model=MODEL))
            while not task.done():
                if await vllm.requests():
                    return task
                await asyncio.sleep(0.01)
            await task


@pytest.mark.parametrize("word", ["api_server", "EngineCore"])
def test_killed_in_mid_request_it_comes_back_with_its_adapters(
    vllm: Hosted, adapters: dict[str, Path], word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def load() -> None:
        backend = vllm.backend()
        await backend.load("buckets", adapters["buckets"])
        await backend.close()

    async def scenario() -> None:
        restarts = vllm.supervisor.state().restarts
        backend = vllm.backend()
        begun = await begin(backend, vllm, LONG)
        before = set(vllm.processes())
        vllm.kill(word)
        # The caller has an answer, where the engine was back in time, or hears in one line of a fault of ours.
        with contextlib.suppress(InfrastructureError):
            assert len((await begun).samples) == len(PROMPTS)
        await until(lambda: vllm.supervisor.state().restarts > restarts and vllm.supervisor.state().status == "ready")
        assert not before & set(vllm.processes())
        assert "buckets" in await backend.models()
        await backend.close()

    monkeypatch.setattr(vllm.supervisor, "on_up", load)
    asyncio.run(scenario())


def test_what_this_machine_cannot_do_is_left_out_rung_by_rung(
    vllm_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ladder for a GPU on a CPU, which knows no fp8; then a stop while it works."""
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    monkeypatch.setenv("VLLM_HOST_IP", "127.0.0.1")
    with hosted("cuda", speculative_config="none") as host:
        host.call(host.supervisor.ready())
        state = host.supervisor.state()
        assert state.rung == "float32, eager"
        assert state.trouble.startswith("fp8, eager: ended with code 1: ")
        assert "fp8" in state.trouble.partition(": ")[2]
        assert "quantization" not in state.flags
        asyncio.run(stopped_at_work(host))


async def stopped_at_work(host: Hosted) -> None:
    backend = host.backend()
    begun = await begin(backend, host, SHORTER)
    processes = host.processes()
    await asyncio.to_thread(host.call, host.supervisor.close())
    assert len((await begun).samples) == len(PROMPTS)
    await backend.close()
    assert not [pid for pid in processes if Path(f"/proc/{pid}").exists()]
