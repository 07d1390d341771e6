"""An engine that others keep up: there, gone, and back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from rl_gym.infra.errors import InfrastructureError, UsageError
from services.policy.supervision import Patience, Watched, watched
from tests.unit.services.policy.supervision.engines import until

QUICK = Patience(quiet_seconds=0, token_seconds=0.1)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "_LOOK_SECONDS", 0.01)


class Server:
    """Answers as a server that is up, as long as it is."""

    def __init__(self) -> None:
        self.up = self.silent = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if not self.up:
            raise httpx.ConnectError("refused")
        if request.url.path.endswith("completions") and self.silent:
            raise httpx.ReadTimeout("late")
        return httpx.Response(200, json={"data": [{"id": "m"}], "usage": {"completion_tokens": 1}})


@asynccontextmanager
async def watching(server: Server) -> AsyncIterator[Watched]:
    engine = Watched("http://engine:8000", "key", "m", QUICK, httpx.MockTransport(server))
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()


def test_it_is_ready_once_it_answers_and_told_each_time() -> None:
    async def scenario() -> None:
        server, seen = Server(), []
        async with watching(server) as engine:

            async def on_up() -> None:
                seen.append(engine.state().status)

            engine.on_up = on_up
            await until(lambda: engine.state().trouble)
            assert engine.state().status == "starting"
            assert "ConnectError: refused" in engine.state().trouble
            server.up = True
            await engine.ready()
            assert (engine.state().status, engine.state().restarts) == ("ready", 0)
            server.up = False
            await until(lambda: engine.state().status == "restarting")
            server.up = True
            await engine.ready()
            assert engine.state().restarts == 1
        assert seen == ["starting", "restarting"]

    asyncio.run(scenario())


def test_one_that_is_there_and_generates_nothing_is_not_ready() -> None:
    async def scenario() -> None:
        server = Server()
        server.up = True
        async with watching(server) as engine:
            await engine.ready()
            server.silent = True
            await until(lambda: engine.state().status == "restarting")
            assert "no token within" in engine.state().trouble
            server.silent = False
            await engine.ready()

    asyncio.run(scenario())


def test_who_waits_for_it_hears_of_the_end() -> None:
    async def scenario() -> None:
        async with watching(Server()) as engine:
            waiting = asyncio.create_task(engine.ready())
            await asyncio.sleep(0)
        with pytest.raises(InfrastructureError, match="draining"):
            await waiting

    asyncio.run(scenario())


def test_the_address_may_end_in_v1_or_not() -> None:
    async def scenario() -> None:
        for address in ("http://engine:8000", "http://engine:8000/v1/"):
            engine = Watched(address, "", "m")
            assert engine.address == "http://engine:8000/v1"
            await engine.close()
        with pytest.raises(UsageError, match="http://"):
            Watched("engine:8000", "", "m")

    asyncio.run(scenario())
