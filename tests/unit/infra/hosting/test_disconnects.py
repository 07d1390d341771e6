"""Work for a caller who leaves ends, and is no fault of the service."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra services is not installed")

from fastapi import FastAPI, Request

from rl_gym.infra.hosting.disconnects import unless_gone
from rl_gym.infra.hosting.errors import handle_errors

SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/",
    "raw_path": b"/",
    "query_string": b"",
    "headers": [],
    "http_version": "1.1",
}


async def status_of(work: Any, leaving: asyncio.Event) -> int:
    """The status of an answer that waits for `work`, to a caller who leaves on an event."""
    app = FastAPI()
    handle_errors(app)

    @app.get("/")
    async def route(request: Request) -> str:
        return str(await unless_gone(request, work()))

    async def receive() -> dict[str, str]:
        await leaving.wait()
        return {"type": "http.disconnect"}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await app(dict(SCOPE), receive, send)
    return int(sent[0]["status"])


def test_the_work_for_whoever_leaves_is_cancelled_and_no_error_of_ours() -> None:
    ended: list[str] = []

    async def scenario() -> int:
        leaving = asyncio.Event()

        async def work() -> None:
            leaving.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")

        status = await status_of(work, leaving)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return status

    assert asyncio.run(scenario()) == 499
    assert ended == ["cancelled"]


def test_whoever_stays_gets_the_result() -> None:
    async def work() -> str:
        return "done"

    async def scenario() -> int:
        status = await status_of(work, asyncio.Event())
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return status

    assert asyncio.run(scenario()) == 200
