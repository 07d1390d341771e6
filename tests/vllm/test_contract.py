"""The real vLLM, by the contract of all model engines."""

from __future__ import annotations

import asyncio

import pytest

from rl_gym.serving.backends import ModelBackend
from rl_gym.serving.sampling import Sampling
from tests.contract.backend_contract import BackendContract, Engine
from tests.vllm.engines import MODEL, Hosted


class TestVllm(BackendContract):
    @pytest.fixture
    def engine(self, vllm: Hosted) -> Engine:
        async def opened() -> ModelBackend:
            return vllm.backend()

        async def running(_: ModelBackend) -> int:
            return await vllm.requests()

        return Engine(opened, MODEL, "word " * 2_000, running)

    def test_more_seeded_prompts_than_one_step_takes_leave_the_engine_alive(self, vllm: Hosted) -> None:
        prompts = [f"an S3 bucket called atlas-{number} " * 30 for number in range(64)]

        async def scenario() -> None:
            backend = vllm.backend()
            completions = await backend.complete(prompts, Sampling(n=2, max_tokens=8, seed=5), model=MODEL)
            assert len(completions.samples) == len(prompts)
            await backend.close()

        restarts = vllm.supervisor.state().restarts
        asyncio.run(scenario())
        assert vllm.supervisor.state().restarts == restarts
