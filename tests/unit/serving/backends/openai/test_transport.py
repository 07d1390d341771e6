"""When a request is sent again: never twice where it may be paid twice, never too late, never once text was told."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

pytest.importorskip("stamina", reason="the extra services is not installed")

import httpx

from rl_gym.infra.errors import BusyError, InfrastructureError
from rl_gym.serving.backends import Completions
from rl_gym.serving.backends.openai import OpenAIBackend
from rl_gym.serving.sampling import Sampling
from tests.unit.serving.backends.openai.wires import DONE, USAGE, Reply, Wire, event, piece, refusal, reply, run

GREEDY = Sampling(greedy=True, max_tokens=16)
BUSY = Reply(429, b"{}")
UNSENT = [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), BUSY]
UNSURE = [
    httpx.ReadTimeout("slow"),
    httpx.ReadError("reset"),
    httpx.WriteError("reset"),
    httpx.RemoteProtocolError("gone"),
    refusal(500),
    refusal(502),
    refusal(503),
    refusal(504),
    Reply(200, b"{"),
    Reply(200, [b'{"choices"', httpx.ReadError("reset")]),
]


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a client meant to wait; it does not."""
    waited: list[float] = []

    async def no_sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", no_sleep)
    return waited


def ask(wire: Wire, **options: Any) -> Completions:
    return run(wire, lambda backend: backend.complete(["p"], GREEDY, model="m"), **options)


@pytest.mark.parametrize("failure", UNSENT, ids=repr)
def test_what_was_not_worked_on_is_sent_again(failure: Reply | Exception, pauses: list[float]) -> None:
    wire = Wire(failure, failure, reply("yes"))
    assert ask(wire, paid=True).samples[0][0].text == "yes"
    assert len(wire.requests) == 3
    assert len(pauses) == 2
    assert all(0 < pause <= 5 for pause in pauses)


@pytest.mark.parametrize("failure", UNSURE, ids=repr)
def test_what_may_have_been_paid_is_not_sent_again(failure: Reply | Exception) -> None:
    wire = Wire(failure, reply("yes"))
    with pytest.raises(InfrastructureError):
        ask(wire, paid=True)
    assert len(wire.requests) == 1
    assert "idempotency-key" not in wire.requests[0].headers


@pytest.mark.parametrize("failure", UNSURE, ids=repr)
def test_it_is_where_it_costs_nothing(failure: Reply | Exception) -> None:
    wire = Wire(failure, reply("yes"))
    assert ask(wire, paid=False).samples[0][0].text == "yes"


def test_a_question_that_costs_nothing_is_asked_again() -> None:
    wire = Wire(refusal(500), Reply(200, b'{"data": [{"id": "m"}]}'))
    assert run(wire, lambda backend: backend.models(), paid=True) == ["m"]


@pytest.mark.parametrize("failure", UNSURE, ids=repr)
def test_it_is_where_the_engine_knows_it_by_its_key(failure: Reply | Exception) -> None:
    wire = Wire(failure, refusal(429), reply("yes"))
    assert ask(wire, paid=True, idempotent=True).samples[0][0].text == "yes"
    keys = {request.headers["idempotency-key"] for request in wire.requests}
    assert len(wire.requests) == 3
    assert len(keys) == 1
    assert keys != {""}


def test_every_prompt_has_a_key_of_its_own() -> None:
    wire = Wire(reply("yes"))
    run(wire, lambda backend: backend.complete(["p", "q"], GREEDY, model="m"), idempotent=True)
    assert len({request.headers["idempotency-key"] for request in wire.requests}) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 301])
def test_what_would_fail_the_same_way_is_not_sent_again(status: int) -> None:
    wire = Wire(refusal(status), reply("yes"))
    with pytest.raises(Exception, match=str(status) if status != 404 else "why"):
        ask(wire, paid=False)
    assert len(wire.requests) == 1


def test_tries_are_bounded(pauses: list[float]) -> None:
    wire = Wire(refusal(503, "warming up"))
    with pytest.raises(InfrastructureError, match="warming up"):
        ask(wire, paid=False)
    assert len(wire.requests) == 5
    assert len(pauses) == 4


def test_a_time_to_wait_is_kept(pauses: list[float]) -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    ask(Wire(Reply(429, retry_after="7"), Reply(503, retry_after=moment), reply("yes")))
    assert 7 <= pauses[0] < 8
    assert 15 < pauses[1] < 21


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_beyond_the_deadline_is_the_callers_to_make(status: int, pauses: list[float]) -> None:
    wire = Wire(Reply(status, retry_after="300"))
    with pytest.raises(BusyError) as raised:
        ask(wire)
    assert raised.value.retry_after == 300
    assert len(wire.requests) == 1
    assert pauses == []


def test_an_engine_that_never_answers() -> None:
    wire = Wire(None)
    with pytest.raises(InfrastructureError, match=r"did not answer within 0\.05 s"):
        ask(wire, paid=False, seconds=0.05)
    assert len(wire.requests) == 1


def test_nothing_is_sent_again_once_text_was_told() -> None:
    broken = Reply(200, [piece("ye"), httpx.ReadError("reset")])
    wire = Wire(broken, reply("yes"))
    told: list[str] = []

    async def scenario(backend: OpenAIBackend) -> Completions:
        return await backend.complete(["p"], GREEDY, model="m", on_text=lambda *part: told.append(part[2]))

    with pytest.raises(InfrastructureError, match="does not answer"):
        run(wire, scenario, paid=False)
    assert told == ["ye"]
    assert len(wire.requests) == 1


def test_a_stream_that_fails_before_any_text_is_begun_again() -> None:
    whole = Reply(200, [piece("ye"), piece("s", "stop"), USAGE, DONE])
    wire = Wire(Reply(200, [httpx.ReadError("reset")]), Reply(200, event({"error": {"message": "x"}})), whole)
    told: list[str] = []

    async def scenario(backend: OpenAIBackend) -> Completions:
        return await backend.complete(["p"], GREEDY, model="m", on_text=lambda *part: told.append(part[2]))

    assert run(wire, scenario, paid=False).samples[0][0].text == "yes"
    assert told == ["ye", "s"]


def test_the_key_is_sent_and_never_shown() -> None:
    odd = Reply(200, b'{"error": {"code": 400, "message": "sk-secret is odd"}}')
    wire = Wire(refusal(401, "Incorrect API key provided: sk-secret"), refusal(400, "sk-secret is odd"), odd)

    async def scenario(backend: OpenAIBackend) -> None:
        for said in (r"refuses the API key \(401\)", r"\*\*\* is odd", r"\*\*\* is odd"):
            with pytest.raises(Exception, match=said) as raised:
                await backend.complete(["p"], GREEDY, model="m")
            assert "sk-secret" not in f"{raised.value!r}{vars(backend)!r}"

    run(wire, scenario, api_key="sk-secret")
    assert wire.requests[0].headers["authorization"] == "Bearer sk-secret"


def test_connections_bound_what_is_asked_at_a_time() -> None:
    asking = most = 0

    class Slow(Wire):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            nonlocal asking, most
            asking += 1
            most = max(most, asking)
            for _ in range(5):
                await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0))])
            asking -= 1
            return reply("yes").response()

    run(Slow(reply()), lambda backend: backend.complete(["p"] * 20, GREEDY, model="m"), connections=3)
    assert most == 3
