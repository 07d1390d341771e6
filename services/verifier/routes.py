"""The routes of the verifier: HTTP in, HTTP out; what they mean is in `service`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse

from rl_gym.iac.defaults import DEFAULT_RULESET
from rl_gym.infra.hosting import BodyLimits, document_body, kept, read_body, read_json, require
from rl_gym.infra.hosting.errors import document_errors
from rl_gym.wire import (
    ErrorBody,
    FixRequest,
    FixResponse,
    RulesetsResponse,
    RulesResponse,
    SarifLog,
    ScanRequest,
    ScanResponse,
    ScoreRequest,
    ScoreResponse,
)
from rl_gym.wire.message import Name
from services.verifier.service import VerifierService
from services.verifier.settings import VerifierSettings

__all__ = ["BODIES", "router"]

BODIES = (ScoreRequest, FixRequest, ScanRequest)
"""The messages that routes read by themselves."""

router = APIRouter()


Service = Annotated[VerifierService, kept("verifier")]
Settings = Annotated[VerifierSettings, kept("settings")]


@router.post(
    "/score",
    dependencies=[Depends(require("score"))],
    response_model=ScoreResponse,
    responses=document_errors(ErrorBody, 401, 403, 404, 408, 413, 415, 422, 429, 503),
    openapi_extra=document_body(ScoreRequest),
)
async def score(request: Request, service: Service, settings: Settings) -> Response:
    """Judge a batch of completions: one result an item, in order; what cannot be judged has an error."""
    async with request.app.state.in_flight():
        limits = BodyLimits(settings.body_bytes, settings.body_values, settings.body_seconds)
        answer = await service.score(await read_json(request, limits))
    return Response(answer, media_type="application/json")


@router.post(
    "/fix",
    dependencies=[Depends(require("score"))],
    response_model=FixResponse,
    responses=document_errors(ErrorBody, 401, 403, 404, 408, 413, 415, 422, 429, 503),
    openapi_extra=document_body(FixRequest),
)
async def fix(request: Request, service: Service, settings: Settings) -> Response:
    """Mend what is mechanical in a completion, and judge what comes of it; null where nothing is changed."""
    async with request.app.state.in_flight():
        limits = BodyLimits(settings.item_bytes, settings.body_values, settings.body_seconds)
        answer = await service.fix(await read_body(request, limits))
    return Response(answer, media_type="application/json")


@router.post(
    "/scan",
    dependencies=[Depends(require("scan"))],
    response_model=ScanResponse | SarifLog,
    responses=document_errors(ErrorBody, 401, 403, 404, 408, 413, 415, 422, 429, 503),
    openapi_extra=document_body(ScanRequest),
)
async def scan(request: Request, service: Service, settings: Settings) -> Response:
    """Judge every root module among files: a ScanResponse, or a SARIF 2.1.0 log where `format` is `sarif`."""
    async with request.app.state.in_flight():
        limits = BodyLimits(settings.scan_body_bytes, settings.scan_body_values, settings.body_seconds)
        answer = await service.scan(await read_body(request, limits))
    return Response(answer, media_type="application/json")


@router.get(
    "/rules",
    dependencies=[Depends(require("scan"))],
    responses=document_errors(ErrorBody, 401, 403, 404, 422, 503),
)
async def rules(service: Service, ruleset: Annotated[Name, Query()] = DEFAULT_RULESET) -> RulesResponse:
    """The rules of a ruleset: what each asks for, why, and how to mend it."""
    return await service.rules(ruleset)


@router.get("/rulesets", dependencies=[Depends(require("scan"))], responses=document_errors(ErrorBody, 401, 403))
async def rulesets(service: Service) -> RulesetsResponse:
    """The built-in rulesets, with the digests that scans name."""
    return service.rulesets()


@router.get("/readyz", tags=["operations"], responses={503: {"description": "Not ready yet, or no more"}})
async def readyz(service: Service) -> JSONResponse:
    """Whether items can be judged now, and how the engines are that may be asked beside the rules."""
    ready, state = await service.readiness()
    return JSONResponse(state, 200 if ready else 503)
