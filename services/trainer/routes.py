"""The routes of the trainer's API: HTTP in, HTTP out; what they mean is in `service`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, suppress
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from sse_starlette import ServerSentEvent
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from rl_gym.infra.hosting import BodyLimits, document_body, kept, read_message, require
from rl_gym.infra.hosting.disconnects import unless_gone
from rl_gym.infra.hosting.errors import document_errors
from rl_gym.infra.hosting.streams import SEND_SECONDS, EventStream, document_events
from rl_gym.wire import ErrorBody
from rl_gym.wire.run import (
    ArtifactsResponse,
    EventsResponse,
    ModelsResponse,
    Run,
    RunEvent,
    RunSpec,
    RunsResponse,
    RunState,
)
from services.trainer.service import TrainerService
from services.trainer.settings import TrainerSettings

__all__ = ["BODIES", "router"]

BODIES = (RunSpec, RunEvent)
"""The messages that routes read and write by themselves."""

_EVENT_STREAM = "text/event-stream"
_CHUNK = 1 << 18
_MOST_ROWS = 1_000
_LAST_EVENT = 2**53
_LONGEST_WAIT = 20
"""In seconds; less than requests have after SIGTERM."""

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
_FILE = r"^[A-Za-z0-9_=@+-][A-Za-z0-9._=@+/-]*$"

_FILES: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}}}

router = APIRouter()


Service = Annotated[TrainerService, kept("trainer")]
Settings = Annotated[TrainerSettings, kept("settings")]
RunName = Annotated[str, Path(pattern=_NAME, max_length=200, description="The id of a run")]
StageName = Annotated[str, Path(pattern=_NAME, max_length=200, description="A stage of the run")]
FileName = Annotated[str, Path(pattern=_FILE, max_length=400, description="A file of the stage")]
Limit = Annotated[int, Query(ge=1, le=_MOST_ROWS, description="The most that are answered")]
After = Annotated[int, Query(ge=0, le=_LAST_EVENT, description="The number of the last event that was read")]
LastEvent = Annotated[int | None, Header(ge=0, le=_LAST_EVENT, description="As `after`, and before it")]
Wait = Annotated[
    float, Query(ge=0, le=_LONGEST_WAIT, description="Seconds to wait for an event where there is none yet")
]

_TRAIN = [Depends(require("train"))]
_WATCH = [Depends(require("watch"))]


@router.post(
    "/runs",
    status_code=201,
    dependencies=_TRAIN,
    response_model=Run,
    responses=document_errors(ErrorBody, 401, 403, 404, 408, 409, 413, 415, 422, 429, 503),
    openapi_extra=document_body(RunSpec),
)
async def submit(request: Request, service: Service, settings: Settings) -> Response:
    """Check a RunSpec, store it as a run, and have it begun. The same spec under the same key is the same run."""
    async with request.app.state.in_flight():
        limits = BodyLimits(settings.body_bytes, settings.body_values, settings.body_seconds)
        run = await service.submit(await read_message(request, limits, RunSpec))
        return Response(run.model_dump_json(), 201, media_type="application/json")


@router.get("/runs", dependencies=_WATCH, responses=document_errors(ErrorBody, 401, 403, 422, 503))
async def runs(service: Service, state: RunState | None = None, limit: Limit = 100) -> RunsResponse:
    """The latest runs, the newest first; `state=dead` are those that wait for a person."""
    return await service.runs(state, limit)


@router.get("/runs/{run}", dependencies=_WATCH, responses=document_errors(ErrorBody, 401, 403, 404, 422, 503))
async def run(service: Service, run: RunName) -> Run:
    """A run and its stages, as they are now."""
    return await service.run(run)


@router.get(
    "/runs/{run}/events",
    dependencies=_WATCH,
    response_model=EventsResponse,
    responses=document_events(RunEvent, Run) | document_errors(ErrorBody, 401, 403, 404, 422, 429, 503),
)
async def events(
    request: Request,
    service: Service,
    run: RunName,
    after: After = 0,
    limit: Limit = _MOST_ROWS,
    wait: Wait = 0,
    last_event_id: LastEvent = None,
) -> Response:
    """What happened in a run after an event: an EventsResponse.

    With `Accept: text/event-stream`, server-sent events instead, as they happen: `event`, each a RunEvent, and at last
    `run`, the Run that has ended. A stream that ends without that is gone on with by `Last-Event-ID`.
    """
    after = after if last_event_id is None else last_event_id
    async with AsyncExitStack() as held:
        await held.enter_async_context(service.watchers())
        if _EVENT_STREAM in request.headers.get("accept", ""):
            followed = await service.stream(run, after=after)
            return EventStream(_sent(followed), held.pop_all())
        found = await unless_gone(request, service.events(run, after=after, limit=limit, seconds=wait))
        return Response(found.model_dump_json(), media_type="application/json")


@router.get(
    "/runs/{run}/document", dependencies=_WATCH, responses=document_errors(ErrorBody, 401, 403, 404, 422, 429, 503)
)
async def document(service: Service, run: RunName) -> Response:
    """The run's document, run.json: its configuration with every key, versions and digests. From its first stage on."""
    async with service.downloads():
        return Response(await service.document(run), media_type="application/json")


@router.post(
    "/runs/{run}/cancel", dependencies=_TRAIN, responses=document_errors(ErrorBody, 401, 403, 404, 409, 422, 503)
)
async def cancel(service: Service, run: RunName) -> Run:
    """Let nothing of a run begin any more, and have the stage that is at work stopped."""
    return await service.cancel(run)


@router.post(
    "/runs/{run}/retry", dependencies=_TRAIN, responses=document_errors(ErrorBody, 401, 403, 404, 409, 422, 503)
)
async def retry(service: Service, run: RunName) -> Run:
    """Try again what is dead or failed of a run."""
    return await service.retry(run)


@router.get(
    "/runs/{run}/artifacts/{stage}",
    dependencies=_WATCH,
    responses=document_errors(ErrorBody, 401, 403, 404, 422, 429, 503),
)
async def artifacts(service: Service, run: RunName, stage: StageName) -> ArtifactsResponse:
    """The files of a stage that has ended, with their digests."""
    async with service.downloads():
        return await service.artifacts(run, stage)


@router.get(
    "/runs/{run}/artifacts/{stage}/{name:path}",
    dependencies=_WATCH,
    response_class=Response,
    responses=_FILES | document_errors(ErrorBody, 401, 403, 404, 422, 429, 503),
)
async def artifact(service: Service, run: RunName, stage: StageName, name: FileName) -> Response:
    """One file of a stage that has ended."""
    async with AsyncExitStack() as held:
        await held.enter_async_context(service.downloads())
        stream = await service.file(run, stage, name)
        return _Download(service, stream, held.pop_all())


@router.get("/models", dependencies=_WATCH, responses=document_errors(ErrorBody, 401, 403, 422, 503))
async def models(service: Service, limit: Limit = 100) -> ModelsResponse:
    """The latest models with their lineage, the newest first."""
    return await service.models(limit)


@router.get("/readyz", tags=["operations"], responses={503: {"description": "Not ready yet, or no more"}})
async def readyz(service: Service) -> JSONResponse:
    """Whether runs can be taken now, and how database and queue are."""
    ready, state = await service.readiness()
    return JSONResponse(state, 200 if ready else 503)


async def _sent(followed: AsyncGenerator[RunEvent | Run, None]) -> AsyncIterator[ServerSentEvent]:
    async with aclosing(followed):
        async for one in followed:
            body = one.model_dump_json()
            if isinstance(one, Run):
                yield ServerSentEvent(body, event="run")
            else:
                yield ServerSentEvent(body, event="event", id=str(one.number))


class _Download(StreamingResponse):
    """A file, and what is held until its end, or until its reader has gone or takes nothing any more."""

    def __init__(self, service: TrainerService, stream: BinaryIO, held: AsyncExitStack) -> None:
        super().__init__(
            _parts(service, stream),
            media_type="application/octet-stream",
            headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
        )
        self._stream = stream
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._held:
            try:
                await super().__call__(scope, receive, send)
            finally:
                self._stream.close()

    async def stream_response(self, send: Send) -> None:
        # Left unfinished, the connection is closed: its reader cannot take a part for the whole.
        with suppress(ClientDisconnect):
            await super().stream_response(_within_time(send))


def _within_time(send: Send) -> Send:
    async def sending(message: Message) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)
        except TimeoutError:
            raise ClientDisconnect from None

    return sending


async def _parts(service: TrainerService, stream: BinaryIO) -> AsyncIterator[bytes]:
    while part := await service.read(stream, _CHUNK):
        yield part
