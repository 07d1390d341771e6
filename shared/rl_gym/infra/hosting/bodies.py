"""Reading a body: in bounded time, of bounded size however it is sent, and as JSON that is cheap to hold."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from rl_gym.infra.errors import BusyError, TooLargeError, UsageError, misfit

__all__ = ["BodyLimits", "InFlight", "document_body", "read_body", "read_json", "read_message"]

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """`values` bounds what the text could mean: commas, brackets and braces, inside of strings too."""

    bytes: int
    values: int
    seconds: float


class InFlight:
    """Bounds how many requests of a kind are served at a time: with a body, for a stream, for a file."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.count = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        """Raises BusyError where as many are being served as may be."""
        if self.count >= self._most:
            raise BusyError(f"{self.count} requests are being served; try again")
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1


async def read_body(request: Request, limits: BodyLimits) -> bytes:
    """The body of a request that says that it is JSON.

    Raises TooLargeError as soon as more arrives than is allowed, whatever Content-Length says; HTTPException 415 for
    another type or a compressed body, 408 for one that takes too long.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "the header Content-Type: application/json is needed")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "a compressed body is not read: send it as it is")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limits.bytes:
        _refuse_size(limits)
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                size += len(part)
                if size > limits.bytes:
                    _refuse_size(limits)
                parts.append(part)
    except TimeoutError:
        raise HTTPException(408, f"the body did not arrive within {limits.seconds:g} s") from None
    except ClientDisconnect:
        raise HTTPException(400, "the connection was closed before the whole body had arrived") from None
    body = b"".join(parts)
    values = sum(body.count(mark) for mark in (b",", b"[", b"{"))
    if values > limits.values:
        raise TooLargeError(f"the body holds {values} commas and brackets; at most {limits.values} are allowed")
    return body


async def read_json(request: Request, limits: BodyLimits) -> Any:
    """The JSON value of a body.

    Raises as `read_body` does, and UsageError for what is no JSON in UTF-8: NaN and Infinity are none, and nesting or
    a number that Python refuses is none to us. A lone surrogate in a string is let through, for its own item to answer.
    """
    body = await read_body(request, limits)
    try:
        return json.loads(body.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise UsageError(f"the body is not UTF-8: byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"the body is not JSON: {error.msg}, line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise UsageError("the body is not JSON that is read here: it nests too deep") from None
    except ValueError as error:
        raise UsageError(f"the body is not JSON that is read here: {error}") from None


async def read_message(request: Request, limits: BodyLimits, kind: type[M]) -> M:
    """The message that a body is. Raises as `read_json` does, and UsageError for what does not fit in it."""
    try:
        return kind.model_validate(await read_json(request, limits))
    except ValidationError as error:
        raise misfit(error.errors(include_url=False, include_input=False, include_context=False)) from None


def _refuse_size(limits: BodyLimits) -> NoReturn:
    raise TooLargeError(f"the body is larger than {limits.bytes} bytes: send less at a time")


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def document_body(kind: type[BaseModel]) -> dict[str, Any]:
    """What a route's OpenAPI says of a body that it reads by itself."""
    schema = {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
