"""All model engines that this machine has, by one contract; the real vLLM keeps it in `tests/vllm`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch", reason="the extra serve is not installed")
pytest.importorskip("fastapi", reason="the extra services is not installed")

from rl_gym.serving.backends import ModelBackend
from rl_gym.serving.backends.openai import Api, OpenAIBackend
from rl_gym.serving.backends.scripted import Asked, ScriptedBackend
from rl_gym.serving.backends.transformers import TransformersBackend
from rl_gym.serving.weights import find_model
from tests.contract.backend_contract import BackendContract, Engine
from tests.contract.openai_stand_in import StandIn, serving

_CONTEXT = 2_000


def story(asked: Asked) -> str:
    """Some forty odd words that follow from prompt and number."""
    first = sum(map(ord, asked.prompt)) + asked.number
    return " ".join(f"wörd{(first * place) % 9973}🎉" for place in range(1, 40 + first % 7))


class TestScripted(BackendContract):
    @pytest.fixture
    def engine(self) -> Engine:
        async def opened() -> ModelBackend:
            return ScriptedBackend(story, models=("nano",), token_seconds=0.0005, context=_CONTEXT)

        async def running(backend: ModelBackend) -> int:
            assert isinstance(backend, ScriptedBackend)
            return backend.running

        return Engine(opened, "nano", "word " * _CONTEXT, running)


class TestTransformers(BackendContract):
    @pytest.fixture
    def engine(self) -> Engine:
        async def opened() -> ModelBackend:
            backend = TransformersBackend(batch_size=16)
            await backend.load("nano", find_model("nano"))
            return backend

        async def running(backend: ModelBackend) -> int:
            assert isinstance(backend, TransformersBackend)
            return backend.running

        return Engine(opened, "nano", "word " * _CONTEXT, running)


@pytest.fixture(scope="module", params=["chat", "completions", "auto"])
def openai(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """A stand-in over HTTP; only for "chat" does its model have a chat template."""
    api: Api = request.param
    script = ScriptedBackend(story, models=("nano",), token_seconds=0.0005, context=_CONTEXT)
    stand_in = StandIn(script, template=api == "chat")

    async def opened() -> ModelBackend:
        return OpenAIBackend(address, api=api, deterministic_greedy=True, seconds=30)

    async def running(_: ModelBackend) -> int:
        return stand_in.running

    with serving(stand_in) as address:
        yield Engine(opened, "nano", "word " * _CONTEXT, running)


class TestOpenAI(BackendContract):
    @pytest.fixture
    def engine(self, openai: Engine) -> Engine:
        return openai
