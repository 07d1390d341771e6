"""The trainer's client: what it asks for, what it repeats, and how it goes on watching where the trainer was away."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

pytest.importorskip("jwt", reason="the extra services is not installed")

import httpx

from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, RlGymError
from rl_gym.wire import EventsResponse, Run, RunEvent, RunSpec, RunsResponse
from rl_gym.wire.clients import trainer
from rl_gym.wire.clients.trainer import AsyncTrainerClient, TrainerClient
from tests.unit.wire.clients.services import Service, refusal

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RUN = Run(id="r-1", spec=RunSpec(preset="nano"), state="done", created=NOW, stages=[])
KEYED = RunSpec(preset="nano", idempotency_key="k")
DOWN = httpx.Response(503, text="no")


def answer(message: Any) -> httpx.Response:
    return httpx.Response(200, content=message.model_dump_json())


def happened(*numbers: int, state: Any = "running") -> httpx.Response:
    events = [RunEvent(run="r-1", number=number, time=NOW, state="running") for number in numbers]
    return answer(EventsResponse(state=state, events=events))


def client(service: Service) -> TrainerClient:
    return TrainerClient("http://trainer", client=httpx.Client(transport=httpx.MockTransport(service)))


def asynchronous(service: Service) -> AsyncTrainerClient:
    return AsyncTrainerClient("http://trainer", client=httpx.AsyncClient(transport=httpx.MockTransport(service)))


def test_each_call_is_the_route_that_it_names() -> None:
    service = Service(answer(RUN), answer(RUN), answer(RUN), answer(RUN), answer(RunsResponse(runs=[RUN])))
    with client(service) as calls:
        assert calls.submit(KEYED) == calls.run("r-1") == calls.cancel("r-1") == calls.retry("a b") == RUN
        assert calls.runs("dead", 3) == [RUN]
    asked = [f"{request.method} {request.url.raw_path.decode()}" for request in service.requests]
    assert asked == [
        "POST /runs",
        "GET /runs/r-1",
        "POST /runs/r-1/cancel",
        "POST /runs/a%20b/retry",
        "GET /runs?limit=3&state=dead",
    ]
    assert RunSpec.model_validate_json(service.requests[0].content) == KEYED


def test_the_asynchronous_one_asks_for_the_same() -> None:
    async def scenario(service: Service) -> None:
        async with asynchronous(service) as calls:
            assert await calls.submit(KEYED) == await calls.run("r-1") == await calls.cancel("r-1") == RUN
            assert await calls.retry("a b") == RUN
            assert await calls.runs("dead", 3) == [RUN]

    service = Service(answer(RUN), answer(RUN), answer(RUN), answer(RUN), answer(RunsResponse(runs=[RUN])))
    asyncio.run(scenario(service))
    assert [request.url.raw_path for request in service.requests] == [
        b"/runs",
        b"/runs/r-1",
        b"/runs/r-1/cancel",
        b"/runs/a%20b/retry",
        b"/runs?limit=3&state=dead",
    ]


@pytest.mark.parametrize(("spec", "tries"), [(KEYED, 2), (RunSpec(preset="nano"), 1)])
def test_a_run_is_submitted_again_only_under_a_key(spec: RunSpec, tries: int) -> None:
    service = Service(DOWN, answer(RUN))
    with client(service) as calls, suppress(InfrastructureError):
        calls.submit(spec)
    assert len(service.requests) == tries


@pytest.mark.parametrize(
    ("response", "kind"), [(refusal("not_found", 404), NotFoundError), (refusal("conflict", 409), ConflictError)]
)
def test_what_it_refuses_is_of_our_family(response: httpx.Response, kind: type[RlGymError]) -> None:
    with client(Service(response)) as calls, pytest.raises(kind, match="why"):
        calls.retry("r-1")


def test_a_run_is_watched_to_its_end_over_an_outage() -> None:
    faults = [DOWN] * 7
    service = Service(
        happened(1, 2), *faults, happened(3), happened(), happened(4, state="done"), happened(state="done")
    )
    with client(service) as calls:
        assert [event.number for event in calls.watch("r-1")] == [1, 2, 3, 4]
    asked = [request.url.params["after"] for request in service.requests]
    assert asked == ["0", *["2"] * 8, "3", "3", "4"]


def test_it_is_watched_so_in_an_event_loop_too() -> None:
    async def scenario() -> list[int]:
        service = Service(happened(5), *[DOWN] * 7, happened(6, state="dead"), happened(state="dead"))
        async with asynchronous(service) as calls:
            return [event.number async for event in calls.watch("r-1", after=4)]

    assert asyncio.run(scenario()) == [5, 6]


def test_a_trainer_that_stays_away_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "_PATIENCE_SECONDS", -1)
    with client(Service(DOWN)) as calls, pytest.raises(InfrastructureError):
        next(calls.watch("r-1"))


def test_what_can_be_no_id_is_not_asked_for() -> None:
    service = Service(answer(RUN))
    with client(service) as calls, pytest.raises(NotFoundError, match=r"no run '\.\./models'"):
        calls.run("../models")
    assert service.requests == []


def test_a_file_comes_in_parts() -> None:
    service = Service(httpx.Response(200, content=b"x" * 100))
    with client(service) as calls, calls.file("r-1", "grpo", "model/a b.json") as parts:
        assert b"".join(parts) == b"x" * 100
    assert service.requests[0].url.raw_path == b"/runs/r-1/artifacts/grpo/model/a%20b.json"
