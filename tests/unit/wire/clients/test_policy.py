"""The policy service's client: what it repeats and what it does not, and streams that end as they should or do not."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

pytest.importorskip("jwt", reason="the extra services is not installed")

import httpx

from rl_gym.gym.core import RewardBreakdown
from rl_gym.infra.errors import BusyError, InfrastructureError, RlGymError, UsageError
from rl_gym.wire import (
    AnswerEvent,
    ColumnAnswer,
    CompleteRequest,
    ErrorBody,
    GenerateEvent,
    GenerateRequest,
    Pass,
    PassEvent,
    Scorecard,
    ServedModel,
    TokensEvent,
    Usage,
)
from rl_gym.wire.clients.policy import AsyncPolicyClient, PolicyClient
from tests.unit.wire.clients.services import Service, refusal

MODEL = ServedModel(engine="scripted", name="tuned", base="base")
USAGE = Usage(prompt_tokens=1, completion_tokens=2, seconds=0.1)
CARD = Scorecard(breakdown=RewardBreakdown(1.0, {}, {}, True, "x", "0" * 12))
FIRST = Pass(kind="first", completion="x", finish_reason="stop", scorecard=CARD, usage=USAGE)
BOTH = GenerateRequest(request="a queue", engines=["tuned", "base"])
EVENTS: list[GenerateEvent] = [
    TokensEvent(column="tuned", kind="first", text="x\n"),
    AnswerEvent(answer=ColumnAnswer(column="base", model=MODEL, error=ErrorBody(error="busy", detail="full"))),
    PassEvent(column="tuned", result=FIRST),
    AnswerEvent(answer=ColumnAnswer(column="tuned", model=MODEL, passes=[FIRST], chosen=0)),
]
COMPLETED = {"model": MODEL.model_dump(), "samples": [[]], "usage": USAGE.model_dump(), "deterministic": True}
GENERATED = {"request_id": "r", "mode": "pass@1", "ruleset": "base", "profile": "default", "columns": []}
RELOADED = {"outcome": "unchanged", "model": MODEL.model_dump()}


def sent(*events: GenerateEvent) -> bytes:
    return b"".join(f"event: {one.event}\r\ndata: {one.model_dump_json()}\r\n\r\n".encode() for one in events)


class Parts(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body in parts, and an error where one stands among them; knows whether it was closed."""

    def __init__(self, parts: Iterable[bytes | Exception]) -> None:
        self.parts, self.closed = parts, False

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            yield part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self:
            yield part

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


Respond = Callable[[httpx.Request], httpx.Response]
Do = Callable[[Any], Any]


def blocking(respond: Respond, do: Do, **options: Any) -> Any:
    client = httpx.Client(transport=httpx.MockTransport(respond))
    with PolicyClient("http://policy", client=client, **options) as policy:
        made = do(policy)
        return list(made) if isinstance(made, Iterator) else made


def asynchronous(respond: Respond, do: Do, **options: Any) -> Any:
    async def scenario() -> Any:
        client = httpx.AsyncClient(transport=httpx.MockTransport(respond))
        async with AsyncPolicyClient("http://policy", client=client, **options) as policy:
            made = do(policy)
            return [event async for event in made] if isinstance(made, AsyncIterator) else await made

    return asyncio.run(scenario())


def complete(client: Any) -> Any:
    return client.complete(CompleteRequest(prompts=["x"]), "r-1")


def generate(client: Any) -> Any:
    return client.generate(BOTH.model_copy(update={"stream": True}), "r-1")


def stream(client: Any) -> Any:
    return client.stream(BOTH, "r-1")


def streamed(*parts: bytes | Exception) -> tuple[Parts, Respond]:
    body = Parts(parts)
    return body, lambda _request: httpx.Response(200, stream=body)


@pytest.mark.parametrize("ask", [blocking, asynchronous])
class TestBothKinds:
    @pytest.mark.parametrize(
        ("do", "answer"),
        [
            (complete, httpx.Response(200, json=COMPLETED)),
            (generate, httpx.Response(200, json=GENERATED)),
            (stream, httpx.Response(200, content=sent(*EVENTS))),
        ],
    )
    def test_what_costs_is_repeated_where_it_was_not_begun(
        self, ask: Callable[[Respond, Do], Any], do: Do, answer: httpx.Response
    ) -> None:
        service = Service(httpx.ConnectError("refused"), refusal("busy", 429), httpx.PoolTimeout("full"), answer)
        assert ask(service, do)
        assert [request.headers["x-request-id"] for request in service.requests] == ["r-1"] * 4

    @pytest.mark.parametrize("do", [complete, generate, stream])
    @pytest.mark.parametrize(
        "answer",
        [
            httpx.ReadTimeout("late"),
            httpx.ReadError("reset"),
            refusal("infrastructure_error", 503),
            httpx.Response(504),
        ],
    )
    def test_and_not_where_it_may_be_done(
        self, ask: Callable[[Respond, Do], Any], do: Do, answer: httpx.Response | Exception
    ) -> None:
        service = Service(answer)
        with pytest.raises(InfrastructureError):
            ask(service, do)
        assert len(service.requests) == 1

    def test_a_stream_is_read_event_by_event(self, ask: Callable[[Respond, Do], Any]) -> None:
        body = b": ping\r\n\r\n" + sent(*EVENTS[:2]) + b"event: news\ndata: {}\n\n" + sent(*EVENTS[2:])
        parts, respond = streamed(*(body[start : start + 50] for start in range(0, len(body), 50)))
        assert ask(respond, stream) == EVENTS
        assert parts.closed

    def test_nothing_is_read_after_the_last_answer(self, ask: Callable[[Respond, Do], Any]) -> None:
        _, respond = streamed(sent(*EVENTS), httpx.ReadError("reset"))
        assert ask(respond, stream) == EVENTS

    @pytest.mark.parametrize(
        ("parts", "reason"),
        [
            ([sent(*EVENTS[:3])], "ended the stream without an answer of tuned"),
            ([], "without an answer of base, tuned"),
            ([sent(EVENTS[0]), httpx.ReadError("reset")], "does not answer: ReadError: reset"),
            ([b"event: tokens\ndata: {}\n\n"], "sent an event 'tokens' that is none"),
            ([b"event: pass\ndata: " + EVENTS[0].model_dump_json().encode()[:-1] + b"\n\n"], "that is none"),
        ],
    )
    def test_a_stream_that_breaks_off_is_a_fault(
        self, ask: Callable[[Respond, Do], Any], parts: list[bytes | Exception], reason: str
    ) -> None:
        body, respond = streamed(*parts)
        with pytest.raises(InfrastructureError, match=reason):
            ask(respond, stream)
        assert body.closed

    def test_a_stream_that_goes_on_and_on_is_ended(self, ask: Callable[..., Any]) -> None:
        body = Parts(itertools.repeat(b": ping\n\n"))
        with pytest.raises(InfrastructureError, match=r"did not end its answer within 0\.05 s"):
            ask(lambda _request: httpx.Response(200, stream=body), stream, seconds=0.05)
        assert body.closed

    def test_a_refusal_before_the_stream_is_told(self, ask: Callable[[Respond, Do], Any]) -> None:
        with pytest.raises(UsageError, match="why"):
            ask(Service(refusal("usage", 422)), stream)
        with pytest.raises(BusyError):
            ask(Service(refusal("busy", 429)), stream)

    def test_it_sends_messages_as_they_are(self, ask: Callable[[Respond, Do], Any]) -> None:
        bodies = []
        for do in (generate, stream, complete, lambda client: client.config(), lambda client: client.reload()):
            service = Service(httpx.Response(400))
            with pytest.raises(RlGymError):
                ask(service, do)
            bodies.append((service.requests[0].method, service.requests[0].url.path, service.requests[0].content))
        assert [(method, path) for method, path, _ in bodies] == [
            ("POST", "/generate"),
            ("POST", "/generate"),
            ("POST", "/complete"),
            ("GET", "/config"),
            ("POST", "/reload"),
        ]
        assert [json.loads(body)["stream"] for _, _, body in bodies[:2]] == [False, True]
        assert GenerateRequest.model_validate_json(bodies[0][2]) == BOTH

    def test_reload_may_be_sent_twice(self, ask: Callable[[Respond, Do], Any]) -> None:
        service = Service(httpx.ReadError("reset"), httpx.Response(200, json=RELOADED))
        assert ask(service, lambda client: client.reload()).outcome == "unchanged"


def test_whoever_stops_reading_closes_the_stream() -> None:
    body, respond = streamed(sent(*EVENTS[:1]), sent(*EVENTS[1:]))
    with PolicyClient("http://policy", client=httpx.Client(transport=httpx.MockTransport(respond))) as client:
        events = client.stream(BOTH)
        assert next(events) == EVENTS[0]
        events.close()
    assert body.closed

    async def scenario() -> None:
        body, respond = streamed(sent(*EVENTS[:1]), sent(*EVENTS[1:]))
        client = httpx.AsyncClient(transport=httpx.MockTransport(respond))
        async with AsyncPolicyClient("http://policy", client=client) as policy:
            async with aclosing(policy.stream(BOTH)) as events:
                async for _ in events:
                    break
            assert body.closed

    asyncio.run(scenario())
