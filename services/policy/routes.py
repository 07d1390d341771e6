"""The routes of the policy service: HTTP in, HTTP out; what they mean is in `service`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sse_starlette import ServerSentEvent

from rl_gym.infra.hosting import BodyLimits, document_body, kept, read_message, require
from rl_gym.infra.hosting.disconnects import unless_gone
from rl_gym.infra.hosting.errors import document_errors
from rl_gym.infra.hosting.streams import EventStream, document_events
from rl_gym.wire import (
    AnswerEvent,
    CompleteRequest,
    CompleteResponse,
    ErrorBody,
    GenerateRequest,
    GenerateResponse,
    PassEvent,
    TokensEvent,
)
from rl_gym.wire.config import ConfigResponse, ReloadResponse
from services.policy.feed import Event
from services.policy.service import PolicyService
from services.policy.settings import PolicySettings

__all__ = ["BODIES", "router"]

_EVENTS = (TokensEvent, PassEvent, AnswerEvent)

BODIES = (CompleteRequest, GenerateRequest, *_EVENTS)
"""The messages that routes read and write by themselves."""

_CUT_SECONDS = 1
"""Before whatever is left is cut off, so that a stream that is too long for the drain is ended here."""

router = APIRouter()


Service = Annotated[PolicyService, kept("policy")]
Settings = Annotated[PolicySettings, kept("settings")]


def _limits(settings: PolicySettings) -> BodyLimits:
    return BodyLimits(settings.body_bytes, settings.body_values, settings.body_seconds)


@router.post(
    "/generate",
    dependencies=[Depends(require("generate"))],
    response_model=GenerateResponse,
    responses=document_events(*_EVENTS) | document_errors(ErrorBody, 401, 403, 404, 408, 413, 415, 422, 429, 503),
    openapi_extra=document_body(GenerateRequest),
)
async def generate(request: Request, service: Service, settings: Settings) -> Response:
    """Write configurations for a request, judge them, repair them: a GenerateResponse.

    With `stream`, server-sent events instead: `tokens`, `pass` and `answer`, each a GenerateEvent in JSON. The stream
    ends when every column has had its answer.
    """
    async with AsyncExitStack() as held:
        await held.enter_async_context(request.app.state.in_flight())
        asked = await read_message(request, _limits(settings), GenerateRequest)
        if asked.stream:
            events = await service.stream(asked)
            # Else SIGTERM would end it at once.
            grace = max(0.0, settings.drain_seconds - _CUT_SECONDS)
            return EventStream(_sent(events), held.pop_all(), grace_seconds=grace)
        return _json(await unless_gone(request, service.generate(asked)))


@router.post(
    "/complete",
    dependencies=[Depends(require("complete"))],
    response_model=CompleteResponse,
    responses=document_errors(ErrorBody, 401, 403, 404, 408, 413, 415, 422, 429, 503),
    openapi_extra=document_body(CompleteRequest),
)
async def complete(request: Request, service: Service, settings: Settings) -> Response:
    """Raw samples for a list of prompts, in order: nothing judges them."""
    async with request.app.state.in_flight():
        asked = await read_message(request, _limits(settings), CompleteRequest)
        return _json(await unless_gone(request, service.complete(asked)))


@router.get("/config", dependencies=[Depends(require("generate"))], responses=document_errors(ErrorBody, 401, 403))
async def config(service: Service) -> ConfigResponse:
    """What answers here now: engine and its flags, models, prices, modes, bounds."""
    return service.config()


@router.post("/reload", dependencies=[Depends(require("operate"))], responses=document_errors(ErrorBody, 401, 403, 503))
async def reload(service: Service) -> ReloadResponse:
    """Look at the promoted model now instead of soon."""
    return await service.reload()


@router.get("/readyz", tags=["operations"], responses={503: {"description": "Not ready yet, or no more"}})
async def readyz(service: Service) -> JSONResponse:
    """Whether requests can be answered now, and how engine and verifier are."""
    ready, state = await service.readiness()
    return JSONResponse(state, 200 if ready else 503)


def _json(message: BaseModel) -> Response:
    return Response(message.model_dump_json(), media_type="application/json")


async def _sent(events: AsyncGenerator[Event, None]) -> AsyncIterator[ServerSentEvent]:
    async with aclosing(events):
        async for event in events:
            yield ServerSentEvent(event.model_dump_json(), event=event.event)
