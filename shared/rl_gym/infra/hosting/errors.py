"""The one shape of an error, `{"error": code, "detail": text, "request_id": id}`, whatever went wrong and wherever."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from rl_gym.infra.errors import BusyError, RlGymError, UnauthorizedError, misfit, one_line

__all__ = ["document_errors", "error_body", "error_response", "handle_errors", "request_id"]

_LONGEST_DETAIL = 1_500


def request_id() -> str:
    """The id of the request that is being served; empty outside of one."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def error_body(code: str, detail: str) -> dict[str, str]:
    """The shape, filled: one printable line of bounded length, for the request that is being served."""
    return {"error": code, "detail": one_line(detail, _LONGEST_DETAIL), "request_id": request_id()}


def error_response(error: RlGymError) -> JSONResponse:
    headers = {}
    if isinstance(error, BusyError):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    if isinstance(error, UnauthorizedError):
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(error_body(error.code, str(error)), error.status, headers)


def document_errors(body: type[BaseModel], *statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route's OpenAPI says of its refusals; `body` is the message of the one shape."""
    return {status: {"model": body, "description": HTTPStatus(status).phrase} for status in statuses}


def handle_errors(app: FastAPI) -> None:
    """Let every refusal of the application and of its framework leave in the one shape."""

    async def ours(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RlGymError)
        return error_response(error)

    async def of_the_framework(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        code = HTTPStatus(error.status_code).name.lower()
        return JSONResponse(error_body(code, str(error.detail)), error.status_code, error.headers)

    async def of_a_parameter(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return error_response(misfit(error.errors()))

    app.add_exception_handler(RlGymError, ours)
    app.add_exception_handler(RequestValidationError, of_a_parameter)
    app.add_exception_handler(HTTPException, of_the_framework)
