"""Whether a server lives, as it answers: up, silent, busy with others, or something else altogether."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest

from rl_gym.infra.errors import InfrastructureError
from services.policy.supervision.probe import Probe

Answer = Callable[[httpx.Request], httpx.Response]


def ask(answer: Answer, question: Callable[[Probe], Coroutine[Any, Any, Any]]) -> Any:
    async def scenario() -> Any:
        probe = Probe("http://engine/v1", "key", "m", httpx.MockTransport(answer))
        try:
            return await question(probe)
        finally:
            await probe.close()

    return asyncio.run(scenario())


def always(status: int = 200, **options: Any) -> Answer:
    return lambda _request: httpx.Response(status, **options)


class TestModels:
    def test_one_that_lists_the_model_is_there(self) -> None:
        def answer(request: httpx.Request) -> httpx.Response:
            assert str(request.url) == "http://engine/v1/models"
            assert request.headers["authorization"] == "Bearer key"
            return httpx.Response(200, json={"data": [{"id": "m"}, {"id": "adapter"}]})

        ask(answer, lambda probe: probe.lists())

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (always(json={"data": [{"id": "other"}]}), "does not serve 'm', but other"),
            (always(json=[]), "no OpenAI-compatible server"),
            (always(text="<html>"), "no OpenAI-compatible server"),
            (always(401), "refuses the API key"),
            (always(502, text="bad\ngateway"), "answers 502: bad gateway"),
        ],
    )
    def test_anything_else_is_told_in_one_line(self, answer: Answer, reason: str) -> None:
        with pytest.raises(InfrastructureError, match=reason):
            ask(answer, lambda probe: probe.lists())


class TestTokens:
    @staticmethod
    def engine(completion: httpx.Response | Exception, counts: list[int]) -> Answer:
        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.path == "/metrics":
                count = counts.pop(0) if len(counts) > 1 else counts[0]
                return httpx.Response(200, text=f'# HELP\nvllm:generation_tokens_total{{a="b c"}} {count}.0\n')
            if isinstance(completion, Exception):
                raise completion
            return completion

        return answer

    def test_a_token_is_a_sign_of_life(self) -> None:
        made = httpx.Response(200, json={"usage": {"completion_tokens": 1}})
        ask(self.engine(made, [0]), lambda probe: probe.token(0.2))

    @pytest.mark.parametrize(
        ("completion", "reason"),
        [
            (httpx.Response(200, json={"usage": {"completion_tokens": 0}}), "answered without a token"),
            (httpx.Response(200, json={}), "answered without a token"),
            (httpx.Response(500, text="EngineDeadError"), "answers 500: EngineDeadError"),
            (httpx.ReadTimeout("late"), "ReadTimeout: late"),
        ],
    )
    def test_without_one_in_time_it_is_dead(self, completion: httpx.Response | Exception, reason: str) -> None:
        with pytest.raises(InfrastructureError, match=rf"no token within 0\.2 s: .*{reason}"):
            ask(self.engine(completion, [7]), lambda probe: probe.token(0.2))

    def test_one_that_generates_for_others_meanwhile_lives(self) -> None:
        ask(self.engine(httpx.ReadTimeout("late"), [7, 8]), lambda probe: probe.token(0.2))

    def test_it_is_busy_while_tokens_come(self) -> None:
        async def question(probe: Probe) -> list[bool]:
            return [await probe.busy() for _ in range(4)]

        assert ask(self.engine(httpx.Response(200), [3, 3, 5, 5]), question) == [True, False, True, False]

    def test_one_without_metrics_is_not_known_to_be_busy(self) -> None:
        assert ask(always(404), lambda probe: probe.busy()) is False
