"""What is asked of an engine over HTTP, and what is made of its answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("stamina", reason="the extra services is not installed")

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.serving.backends import Completions
from rl_gym.serving.backends.openai import OpenAIBackend
from rl_gym.serving.sampling import Sampling
from tests.unit.serving.backends.openai.wires import (
    DONE,
    USAGE,
    Reply,
    Wire,
    event,
    piece,
    refusal,
    reply,
    run,
)

GREEDY = Sampling(greedy=True, max_tokens=16)


def ask(wire: Wire, sampling: Sampling = GREEDY, prompts: list[str] | None = None, **options: Any) -> Completions:
    return run(wire, lambda backend: backend.complete(prompts or ["p"], sampling, model="m"), **options)


def stream(*parts: bytes | Exception) -> list[str]:
    told: list[str] = []

    async def scenario(backend: OpenAIBackend) -> None:
        made = await backend.complete(["p"], GREEDY, model="m", on_text=lambda *part: told.append(part[2]))
        assert "".join(told) == made.samples[0][0].text

    run(Wire(Reply(200, parts)), scenario)
    return told


class TestAsking:
    def test_greedy_is_temperature_zero(self) -> None:
        wire = Wire(reply())
        ask(wire)
        assert wire.sent() == {"model": "m", "prompt": "p", "n": 1, "max_tokens": 16, "temperature": 0}
        assert str(wire.requests[0].url) == "http://engine/v1/completions"

    def test_a_chat_is_one_message(self) -> None:
        body = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "model": "m"}
        wire = Wire(Reply(200, json.dumps(body | {"usage": {"prompt_tokens": 1, "completion_tokens": 2}}).encode()))
        made = ask(wire, api="chat", fields={"chat_template_kwargs": {"enable_thinking": False}}, headers={"X-A": "b"})
        assert (made.samples[0][0].text, made.samples[0][0].tokens) == ("hi", 2)
        assert wire.sent()["messages"] == [{"role": "user", "content": "p"}]
        assert wire.sent()["chat_template_kwargs"] == {"enable_thinking": False}
        assert wire.requests[0].headers["x-a"] == "b"

    def test_prompts_have_seeds_of_their_own_that_stay(self) -> None:
        def seeds(prompts: list[str], seed: int) -> list[int]:
            wire = Wire(reply("a", "b"))
            ask(wire, Sampling(n=2, seed=seed), prompts)
            return [wire.sent(number)["seed"] for number in range(len(prompts))]

        assert seeds(["p", "q"], 1) == seeds(["q", "p"], 1)[::-1]
        assert len({*seeds(["p", "q"], 1), *seeds(["p", "q"], 2)}) == 4

    def test_auto_finds_out_once_a_model(self) -> None:
        wire = Wire(refusal(400, "you must provide a chat template"), reply("a"), reply("b"), refusal(404, "no m2"))

        async def scenario(backend: OpenAIBackend) -> None:
            for text in ("a", "b"):
                assert (await backend.complete(["p"], GREEDY, model="m")).samples[0][0].text == text
            with pytest.raises(NotFoundError, match="no m2"):
                await backend.complete(["p"], GREEDY, model="m2")

        run(wire, scenario, api="auto")
        paths = [request.url.path.removeprefix("/v1/") for request in wire.requests]
        assert paths == ["chat/completions", "completions", "completions", "chat/completions"]

    def test_auto_takes_an_engine_without_chats(self) -> None:
        assert ask(Wire(Reply(404, b'{"detail": "Not Found"}'), reply("a")), api="auto").samples[0][0].text == "a"

    @pytest.mark.parametrize("address", ["http://h:1", "http://h:1/", "http://h:1/v1", " http://h:1/v1/ "])
    def test_addresses(self, address: str) -> None:
        from rl_gym.serving.backends.openai.address import root

        assert root(address) == "http://h:1"

    @pytest.mark.parametrize(
        "address", ["", "h:1", "file:///x", "http://", "http://u:pw@h", "http://h?key=pw", "http://h:port"]
    )
    def test_what_is_no_address(self, address: str) -> None:
        with pytest.raises(UsageError, match="address") as raised:
            OpenAIBackend(address)
        assert "pw" not in str(raised.value)


class TestAnswers:
    def test_another_name_than_asked_is_kept(self) -> None:
        assert ask(Wire(reply(model="other"))).model == "other"

    def test_usage_is_the_engines(self) -> None:
        made = ask(Wire(reply("a")), prompts=["p", "q"])
        assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (6, 4)

    def test_samples_are_put_in_order(self) -> None:
        choices = [{"index": n, "text": f"{n}", "finish_reason": "stop"} for n in (2, 0, 1)]
        made = ask(Wire(reply(choices=choices)), Sampling(n=3))
        assert [sample.text for sample in made.samples[0]] == ["0", "1", "2"]

    def test_tokens_that_are_told_together_are_shared_out_by_length(self) -> None:
        [samples] = ask(Wire(reply("a" * 9, "b" * 29)), Sampling(n=2)).samples
        assert [sample.tokens for sample in samples] == [1, 3]

    @pytest.mark.parametrize("reason", ["content_filter", "tool_calls", "abort", None])
    def test_an_end_that_is_not_the_models_is_no_answer(self, reason: str | None) -> None:
        with pytest.raises(InfrastructureError, match=reason or "did not finish"):
            ask(Wire(reply(finish=reason)))

    def test_log_probabilities_that_are_not_there(self) -> None:
        with pytest.raises(UsageError, match="gives no log-probabilities"):
            ask(Wire(reply()), Sampling(greedy=True, logprobs=True))

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            (b"", "not of the OpenAI protocol"),
            (b"[]", "not of the OpenAI protocol"),
            (b"<html>", "not of the OpenAI protocol"),
            (b'{"choices": [{"text": 7}]}', "not of the OpenAI protocol"),
            (b'{"choices": [{"index": -1, "text": ""}]}', "not of the OpenAI protocol"),
            (b'{"choices": [{"index": 5, "text": ""}]}', "more samples than"),
            (b'{"choices": []}', "how many tokens"),
            (b'{"choices": [], "usage": {"prompt_tokens": 1}}', "did not finish"),
            (b'{"error": {"message": "engine died"}}', "engine died"),
            (b'{"choices": [{"text": "%s"}]}' % (b"x" * 262_145), "more than 262144 characters"),
            (b'{"choices": [], "usage": {"prompt_tokens": 1e30}}', "not of the OpenAI protocol"),
        ],
    )
    def test_what_is_no_answer(self, body: bytes, said: str) -> None:
        with pytest.raises(InfrastructureError, match=said):
            ask(Wire(Reply(200, body)))

    def test_a_body_without_end_is_not_read_to_its_end(self) -> None:
        with pytest.raises(InfrastructureError, match="larger than 64 MiB"):
            ask(Wire(Reply(200, [b" " * (1 << 20)] * 65)))

    def test_what_is_packed_is_not_unpacked(self) -> None:
        with pytest.raises(InfrastructureError, match="compressed"):
            ask(Wire(Reply(200, b"x", content_encoding="gzip")))

    def test_models(self) -> None:
        assert run(Wire(Reply(200, b'{"data": [{"id": "a"}, {"id": "b"}]}')), lambda b: b.models()) == ["a", "b"]
        with pytest.raises(InfrastructureError, match="no list of models"):
            run(Wire(Reply(200, b"{}")), lambda b: b.models())

    def test_one_prompt_that_fails_ends_the_others(self) -> None:
        async def scenario(backend: OpenAIBackend) -> None:
            with pytest.raises(UsageError, match="no way"):
                await backend.complete(["p", "q"], GREEDY, model="m")
            assert len(asyncio.all_tasks()) == 1

        run(Wire(refusal(400, "no way"), None), scenario)


class TestStreams:
    def test_lines_may_be_cut_anywhere(self) -> None:
        whole = b": ping\n\nevent: x\r\n" + piece("yé") + piece("s", "stop") + USAGE + DONE
        assert stream(*(whole[at : at + 1] for at in range(len(whole)))) == ["yé", "s"]

    @pytest.mark.parametrize(
        ("parts", "said"),
        [
            ([piece("a", "stop"), USAGE], "ended before"),
            ([piece("a"), USAGE, DONE], "did not finish"),
            ([piece("a", "stop"), DONE], "how many tokens"),
            ([b"garbage\n"], "no event"),
            ([b"data: {\n"], "not of the OpenAI protocol"),
            ([b"data: " + b"x" * (1 << 20) + b"\n"], "more than 1 MiB"),
            ([b"x" * (1 << 20), b"x"], "more than 1 MiB"),
            ([piece("a"), event({"error": {"message": "out of memory", "code": 500}})], "out of memory"),
            ([], "ended before"),
            ([piece("x" * 100_000)] * 3, "more than 262144 characters"),
            ([b": %s\n" % (b"x" * (1 << 19))] * 130, "longer than 64 MiB"),
        ],
    )
    def test_a_broken_stream_is_no_answer(self, parts: list[bytes], said: str) -> None:
        with pytest.raises(InfrastructureError, match=said):
            stream(*parts)

    def test_usage_is_asked_for(self) -> None:
        wire = Wire(Reply(200, [piece("a", "stop"), USAGE, DONE]))
        run(wire, lambda b: b.complete(["p"], GREEDY, model="m", on_text=lambda *_: None))
        assert wire.sent()["stream_options"] == {"include_usage": True}
