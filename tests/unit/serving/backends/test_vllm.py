"""What is particular to vLLM: prompts are counted before, and adapters come and go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("stamina", reason="the extra services is not installed")

import httpx

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.serving.backends import AdapterHost, PromptTooLongError
from rl_gym.serving.backends.vllm import VllmBackend
from rl_gym.serving.sampling import Sampling
from tests.unit.serving.backends.openai.wires import Reply, Wire, refusal, reply

GREEDY = Sampling(greedy=True, max_tokens=100)


def run(wire: Wire, scenario: Callable[[VllmBackend], Awaitable[object]]) -> None:
    async def whole() -> None:
        client = httpx.AsyncClient(transport=wire)
        backend = VllmBackend("http://vllm", api="completions", seconds=20, client=client)
        await scenario(backend)
        await backend.close()

    asyncio.run(whole())


def counted(count: int) -> Reply:
    return Reply(200, json.dumps({"count": count, "max_model_len": 1024, "tokens": []}).encode())


def paths(wire: Wire) -> list[str]:
    return [request.url.path for request in wire.requests]


def test_it_hosts_adapters() -> None:
    assert isinstance(VllmBackend("http://vllm"), AdapterHost)


def test_a_prompt_that_might_not_fit_is_counted_first() -> None:
    wire = Wire(counted(4), reply("a"), reply("b"), counted(925))

    async def scenario(backend: VllmBackend) -> None:
        await backend.complete(["short"], GREEDY, model="m")
        await backend.complete(["short"], GREEDY, model="m")
        with pytest.raises(PromptTooLongError) as raised:
            await backend.complete(["x" * 925], GREEDY, model="m")
        assert (raised.value.tokens, raised.value.limit) == (925, 924)

    run(wire, scenario)
    assert paths(wire) == ["/tokenize", "/v1/completions", "/v1/completions", "/tokenize"]
    assert wire.sent(1)["return_token_ids"] is True


def test_a_gateway_that_does_not_count_is_no_hindrance() -> None:
    run(
        Wire(Reply(404, b'{"detail": "Not Found"}'), reply("a")),
        lambda backend: backend.complete(["p"], GREEDY, model="m"),
    )


def test_tokens_are_counted_by_their_ids() -> None:
    choices = [{"index": n, "text": "a", "finish_reason": "stop", "token_ids": [1] * (n + 1)} for n in range(2)]

    async def scenario(backend: VllmBackend) -> None:
        [samples] = (await backend.complete(["p"], Sampling(n=2), model="m")).samples
        assert [sample.tokens for sample in samples] == [1, 2]

    run(Wire(counted(1), reply(choices=choices)), scenario)


def test_adapters_are_loaded_by_name_and_path() -> None:
    wire = Wire(Reply(200, b"Success"))

    async def scenario(backend: VllmBackend) -> None:
        await backend.load("sha-1", Path("/adapters/sha-1"))
        await backend.unload("sha-1")

    run(wire, scenario)
    assert wire.sent(0) == {"lora_name": "sha-1", "lora_path": "/adapters/sha-1", "load_inplace": True}
    assert wire.sent(1) == {"lora_name": "sha-1"}


RANK = "Call to add_lora method failed: LoRA rank 64 is greater than max_lora_rank 16."


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (refusal(500, RANK), UsageError, "rank 64 is greater"),
        (refusal(404, "Loading lora x failed: No adapter found for /a"), NotFoundError, "No adapter found"),
        (Reply(404, b'{"detail": "Not Found"}'), UsageError, "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"),
        (refusal(500, "EngineCore encountered an issue"), InfrastructureError, "EngineCore"),
    ],
)
def test_what_cannot_be_loaded(answer: Reply, kind: Any, words: str) -> None:
    wire = Wire(answer)

    async def scenario(backend: VllmBackend) -> None:
        with pytest.raises(kind, match=words):
            await backend.load("x", Path("/a"))

    run(wire, scenario)
    assert len(wire.requests) == 1


def test_an_adapter_that_is_not_there_is_unloaded() -> None:
    run(Wire(refusal(404, "cannot be found")), lambda backend: backend.unload("x"))
