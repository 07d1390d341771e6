"""Requests to an engine: pooled connections, a deadline, and tries again only where they cannot be paid twice."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import stamina

from rl_gym.infra.errors import InfrastructureError
from rl_gym.serving.backends.openai.bodies import read_whole
from rl_gym.serving.backends.openai.faults import Again, Refused, lost, refusal, said

__all__ = ["Request", "Transport"]

T = TypeVar("T")

_TRIES = 5
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 5.0
_CONNECT_SECONDS = 10.0
_ERROR_BYTES = 1 << 16
_KEEP_ALIVE_SECONDS = 4.0
"""Less than the 5 s after which vLLM and others drop a connection: one dropped while we send would be a lost try."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask; `max_tokens` is what would be generated, and `harmless` says that nobody minds it sent twice."""

    path: str
    body: Mapping[str, Any] | None = None
    max_tokens: int = 0
    harmless: bool = False


class Transport:
    """Sends requests to one engine, `connections` at a time.

    A try that failed is repeated, with growing pauses and jitter or after the time that the engine asks for, where
    the engine surely did not work on it; where it may have, only if that costs nothing (not `paid`) or the engine
    knows by its `Idempotency-Key` that it is the same one (`idempotent`).
    """

    def __init__(
        self,
        address: str,
        *,
        api_key: str = "",
        headers: Mapping[str, str] | None = None,
        seconds: float,
        connections: int,
        paid: bool,
        idempotent: bool,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self.who = f"the engine at {address}"
        self.secret = api_key
        self._address, self._seconds = address, seconds
        self._timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        self._paid, self._idempotent = paid, idempotent
        self._headers = {**(headers or {}), "Accept-Encoding": "identity"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._places = asyncio.Semaphore(connections)
        limits = httpx.Limits(max_connections=connections + 2, keepalive_expiry=_KEEP_ALIVE_SECONDS)
        self._client = client or httpx.AsyncClient(limits=limits, trust_env=False)

    async def call(
        self,
        request: Request,
        read: Callable[[httpx.Response], Awaitable[T]],
        repeatable: Callable[[], bool] = lambda: True,
    ) -> T:
        """What `read` makes of the answer; raises of the family of RlGymError.

        `seconds` bounds all tries together, from when a connection is free. `repeatable` is asked before another try.
        """
        async with self._places if request.body is not None else nullcontext():
            trying = _Trying(time.monotonic() + self._seconds, repeatable, self._repeats(request))
            headers = {**self._headers, **({"Idempotency-Key": uuid.uuid4().hex} if self._idempotent else {})}
            try:
                async with asyncio.timeout(self._seconds):
                    async for attempt in stamina.retry_context(
                        trying.again,
                        attempts=_TRIES,
                        timeout=None,
                        wait_initial=_FIRST_PAUSE_SECONDS,
                        wait_max=_LONGEST_PAUSE_SECONDS,
                        wait_jitter=_FIRST_PAUSE_SECONDS,
                    ):
                        with attempt:
                            return await self._once(request, headers, read)
            except Refused as refused:
                raise refused.error from refused.__cause__
            except TimeoutError:
                late = InfrastructureError(f"{self.who} did not answer within {self._seconds:g} s")
                raise (trying.last or late) from None
        raise AssertionError("unreachable: the last try returns or raises")

    async def close(self) -> None:
        await self._client.aclose()

    def _repeats(self, request: Request) -> frozenset[Again]:
        free = request.harmless or not self._paid or self._idempotent
        return frozenset((Again.SAFE, Again.UNSURE) if free else (Again.SAFE,))

    async def _once(
        self, request: Request, headers: Mapping[str, str], read: Callable[[httpx.Response], Awaitable[T]]
    ) -> T:
        if self._client.is_closed:
            closed = InfrastructureError(f"{self.who} is no longer asked: this client was closed")
            raise Refused(closed, Again.NEVER)
        method = "GET" if request.body is None else "POST"
        url = self._address + request.path
        try:
            async with self._client.stream(
                method, url, json=request.body, headers=headers, timeout=self._timeout
            ) as response:
                if not response.is_success:
                    body = await read_whole(response, _ERROR_BYTES, cut=True)
                    told = said(response.status_code, body, self.secret)
                    raise refusal(self.who, told, response.headers, request.max_tokens)
                return await read(response)
        except httpx.TransportError as error:
            raise lost(self.who, error) from error
        except InfrastructureError as error:
            raise Refused(error, Again.UNSURE) from error


class _Trying:
    """The tries of one call: asked after each whether there is another."""

    def __init__(self, end: float, repeatable: Callable[[], bool], repeats: frozenset[Again]) -> None:
        self._end, self._repeatable, self._repeats = end, repeatable, repeats
        self.last: Exception | None = None

    def again(self, error: Exception) -> bool | float:
        """Whether to try again, or after how many seconds; never where that would be too late."""
        if not isinstance(error, Refused):
            return False
        self.last = error.error
        if error.again not in self._repeats or not self._repeatable():
            return False
        if error.after is None:
            return True
        wait = error.after + random.uniform(0, _FIRST_PAUSE_SECONDS)
        return wait if time.monotonic() + wait < self._end else False
