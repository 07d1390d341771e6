"""Work for a caller who may leave: what nobody waits for any more is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

from rl_gym.infra.errors import UsageError

__all__ = ["GoneError", "unless_gone"]

T = TypeVar("T")


class GoneError(UsageError):
    """The caller left before there was an answer. Nobody receives this; it is logged, under the status of nginx."""

    code = "client_closed_request"
    status = 499


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, whose cancellation comes as soon as the caller of the request closes the connection.

    The body must have been read before. Raises GoneError where the caller left, else whatever `work` raises.
    """
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise GoneError("the connection was closed before there was an answer")
    finally:
        for one in (task, leaving):
            one.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
