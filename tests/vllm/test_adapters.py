"""Adapters in the real engine: loaded while it runs, asked by name, refused where it cannot take them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from rl_gym.infra.errors import InfrastructureError, NotFoundError, RlGymError, UsageError
from rl_gym.serving.backends.vllm import VllmBackend
from rl_gym.serving.canary import Canary
from rl_gym.serving.sampling import Sampling
from tests.contract.backend_contract import PROMPTS
from tests.vllm.engines import MODEL, Hosted

GREEDY = Sampling(greedy=True, max_tokens=24)
CANARY = Canary(PROMPTS, max_tokens=24)

Scenario = Callable[[VllmBackend], Awaitable[None]]


def run(vllm: Hosted, names: tuple[str, ...], scenario: Scenario) -> None:
    """Run a scenario, and unload what it loaded."""

    async def whole() -> None:
        backend = vllm.backend()
        try:
            await scenario(backend)
        finally:
            for name in names:
                await backend.unload(name)
            await backend.close()

    asyncio.run(whole())


async def answers(backend: VllmBackend, model: str) -> list[str]:
    made = await backend.complete(PROMPTS, GREEDY, model=model)
    assert made.model == model
    return [samples[0].text for samples in made.samples]


def test_two_adapters_and_the_base_answer_each_by_its_name(vllm: Hosted, adapters: dict[str, Path]) -> None:
    async def scenario(backend: VllmBackend) -> None:
        before = await answers(backend, MODEL)
        await backend.load("buckets", adapters["buckets"])
        await backend.load("keys", adapters["keys"])
        assert {MODEL, "buckets", "keys"} <= set(await backend.models())
        # Not the base beside them: in a mixed batch vLLM 0.32 for the CPU gives it the adapter of the last slot.
        buckets, keys = await asyncio.gather(answers(backend, "buckets"), answers(backend, "keys"))
        assert await answers(backend, MODEL) == before
        assert all("aws_s3_bucket" in text for text in buckets)
        assert all("aws_kms_key" in text for text in keys)
        await CANARY.check(backend, "buckets", MODEL)

    run(vllm, ("buckets", "keys"), scenario)


def test_others_are_answered_while_one_is_loaded(vllm: Hosted, adapters: dict[str, Path]) -> None:
    async def scenario(backend: VllmBackend) -> None:
        long = Sampling(n=4, max_tokens=400, temperature=2.0)
        working = asyncio.create_task(backend.complete(PROMPTS[:1], long, model=MODEL))
        await backend.load("buckets", adapters["buckets"])
        assert "aws_s3_bucket" in (await answers(backend, "buckets"))[0]
        assert len((await working).samples[0]) == 4

    run(vllm, ("buckets",), scenario)


def test_what_is_unloaded_answers_no_more(vllm: Hosted, adapters: dict[str, Path]) -> None:
    async def scenario(backend: VllmBackend) -> None:
        await backend.load("buckets", adapters["buckets"])
        await backend.unload("buckets")
        await backend.unload("buckets")
        with pytest.raises(NotFoundError, match="buckets"):
            await answers(backend, "buckets")

    run(vllm, (), scenario)


def test_an_adapter_that_changes_nothing_fails_its_canary(vllm: Hosted, adapters: dict[str, Path]) -> None:
    async def scenario(backend: VllmBackend) -> None:
        await backend.load("nothing", adapters["nothing"])
        with pytest.raises(InfrastructureError, match="word for word"):
            await CANARY.check(backend, "nothing", MODEL)

    run(vllm, ("nothing",), scenario)


def test_too_large_a_rank_is_refused_and_the_engine_lives(vllm: Hosted, adapters: dict[str, Path]) -> None:
    async def scenario(backend: VllmBackend) -> None:
        with pytest.raises(UsageError, match="rank"):
            await backend.load("large", adapters["large"])
        assert "large" not in await backend.models()
        assert await answers(backend, MODEL)

    run(vllm, (), scenario)


def test_a_folder_without_an_adapter_is_refused(vllm: Hosted, tmp_path: Path) -> None:
    async def scenario(backend: VllmBackend) -> None:
        with pytest.raises(RlGymError):
            await backend.load("empty", tmp_path)
        assert "empty" not in await backend.models()

    run(vllm, (), scenario)


def test_who_does_not_show_the_key_loads_nothing(vllm: Hosted, adapters: dict[str, Path]) -> None:
    async def scenario() -> None:
        stranger = VllmBackend(vllm.supervisor.address, api_key="guessed")
        try:
            with pytest.raises(RlGymError):
                await stranger.load("buckets", adapters["buckets"])
        finally:
            await stranger.close()

    asyncio.run(scenario())
