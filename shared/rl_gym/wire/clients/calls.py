"""What every client does alike: a deadline, bounded retries, errors of our family, one request id for all tries.

The steps of a call are written once, as a generator that asks for requests and pauses; a blocking and an asynchronous
driver do what it asks for.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from types import TracebackType
from typing import ClassVar, Protocol, Self, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from rl_gym.infra.errors import InfrastructureError, RlGymError, UsageError, revived
from rl_gym.wire.error import ErrorBody

__all__ = ["AsyncClient", "AsyncTransport", "Call", "Caller", "Client", "Repeat", "Transport"]

_LATE, _BUSY = 408, 429
"""The body was too long on its way, and as much is waiting as may wait: neither is a mistake of the caller's."""
_RETRIED = {_LATE, _BUSY, 502, 503, 504}
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 5.0
_TRIES = 5
_JITTER = random.Random()
"""Not the common generator: a training that was seeded draws from that one, whether there were faults or not."""

M = TypeVar("M", bound=BaseModel)


class Caller(Protocol):
    """Who calls: gives a signed principal for a request, as `rl_gym.infra.principals.Issuer` does."""

    def token(self, request_id: str) -> str: ...


class Repeat(Enum):
    """When a call may be sent again."""

    FREELY = auto()
    """It does no harm twice."""
    UNLESS_BEGUN = auto()
    """It costs money or time: only where the service surely has not begun it, unreachable or full."""
    NEVER = auto()


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a service."""

    method: str
    path: str
    body: bytes | None = None
    query: dict[str, str] | None = None
    repeat: Repeat = Repeat.FREELY


@dataclass(frozen=True, slots=True)
class _Pause:
    seconds: float


_Outcome = httpx.Response | httpx.RequestError
_Steps = Generator[httpx.Request | _Pause, _Outcome | None, httpx.Response]


@dataclass(frozen=True, slots=True)
class _Steering:
    """Where calls go, in whose name, and how long one may take with all its tries."""

    service: str
    address: str
    caller: Caller | None
    seconds: float

    def __post_init__(self) -> None:
        try:
            url = httpx.URL(self.address)
        except httpx.InvalidURL:
            url = httpx.URL("")
        if url.scheme not in ("http", "https") or not url.host or url.userinfo:
            raise UsageError(f"the address of the {self.service} must be http://HOST:PORT, without a password")

    def steps(self, call: Call, request_id: str) -> _Steps:
        """Ask for requests and pauses until there is an answer; raises of the family of RlGymError."""
        name = request_id or uuid.uuid4().hex
        end = time.monotonic() + self.seconds
        pause = _FIRST_PAUSE_SECONDS
        for number in range(1, _TRIES + 1):
            left = end - time.monotonic()
            outcome = yield self._request(call, name, max(left, 0.001))
            assert outcome is not None
            error = self._error(outcome)
            if error is None:
                assert isinstance(outcome, httpx.Response)
                return outcome
            wait = max(pause * _JITTER.uniform(0.5, 1.5), _retry_after(outcome))
            if not _may_repeat(call, outcome) or number == _TRIES or time.monotonic() + wait > end:
                raise error
            yield _Pause(wait)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        raise AssertionError

    def read(self, kind: type[M], body: bytes) -> M:
        """The message that was answered; raises InfrastructureError for what is none."""
        try:
            return kind.model_validate_json(body)
        except ValidationError as error:
            count = error.error_count()
            raise self.fault(f"answered with what is no {kind.__name__}: {count} misfits") from None

    def fault(self, what: str) -> InfrastructureError:
        return InfrastructureError(f"the {self.service} at {self.address} {what}")

    def broken(self, error: httpx.RequestError) -> InfrastructureError:
        """What it means that there was no answer, or no end of one."""
        name = type(error).__name__
        return self.fault(f"does not answer: {name}: {error}" if str(error) else f"does not answer: {name}")

    def _request(self, call: Call, name: str, seconds: float) -> httpx.Request:
        headers = {"X-Request-Id": name}
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        if self.caller is not None:
            headers["Authorization"] = f"Bearer {self.caller.token(name)}"
        timeout = httpx.Timeout(seconds).as_dict()
        url = httpx.URL(self.address.rstrip("/") + call.path, params=call.query or {})
        return httpx.Request(call.method, url, headers=headers, content=call.body, extensions={"timeout": timeout})

    def _error(self, outcome: _Outcome) -> RlGymError | None:
        """What an outcome means, None where it is an answer."""
        if not isinstance(outcome, httpx.Response):
            return self.broken(outcome)
        if outcome.is_success:
            return None
        try:
            said = ErrorBody.model_validate_json(outcome.content)
        except ValidationError:
            return self.fault(f"answered {outcome.status_code}")
        if outcome.status_code in (_LATE, _BUSY) or outcome.is_server_error:
            return revived(said.error, f"the {self.service}: {said.detail}", InfrastructureError.status)
        return revived(said.error, said.detail, outcome.status_code)


def _may_repeat(call: Call, outcome: _Outcome) -> bool:
    if call.repeat is Repeat.NEVER:
        return False
    if isinstance(outcome, httpx.Response):
        again = _RETRIED if call.repeat is Repeat.FREELY else {_BUSY}
        return outcome.status_code in again
    return call.repeat is Repeat.FREELY or isinstance(outcome, _UNSENT)


def _retry_after(outcome: object) -> float:
    """Seconds that a service asked for; 0 where it asked for none."""
    text = outcome.headers.get("retry-after", "") if isinstance(outcome, httpx.Response) else ""
    return float(text) if text.isdecimal() and len(text) < 6 else 0.0


class Transport:
    """Drives calls and blocks meanwhile; safe to share between threads.

    Every method raises InfrastructureError where there is no answer, or one that makes no sense, else what the service
    says.
    """

    def __init__(
        self, service: str, address: str, caller: Caller | None, seconds: float, client: httpx.Client | None = None
    ) -> None:
        self._steering = _Steering(service, address, caller, seconds)
        self._client = client or httpx.Client(trust_env=False)

    def ask(self, kind: type[M], call: Call, request_id: str = "") -> M:
        """The message that is answered."""
        return self._steering.read(kind, self.call(call, request_id))

    def call(self, call: Call, request_id: str = "") -> bytes:
        """The body of the answer."""
        return self._answer(call, request_id, stream=False).content

    @contextmanager
    def stream(self, call: Call, request_id: str = "") -> Iterator[Iterator[bytes]]:
        """The body of the answer, in parts as it arrives."""
        end = time.monotonic() + self._steering.seconds
        response = self._answer(call, request_id, stream=True)
        try:
            yield self._parts(response, end)
        finally:
            response.close()

    def _parts(self, response: httpx.Response, end: float) -> Iterator[bytes]:
        try:
            for part in response.iter_bytes():
                if time.monotonic() > end:
                    raise self._steering.fault(f"did not end its answer within {self._steering.seconds:g} s")
                yield part
        except httpx.RequestError as error:
            raise self._steering.broken(error) from error

    def _answer(self, call: Call, request_id: str, *, stream: bool) -> httpx.Response:
        steps = self._steering.steps(call, request_id)
        try:
            step = next(steps)
            while True:
                if isinstance(step, _Pause):
                    time.sleep(step.seconds)
                    step = next(steps)
                else:
                    step = steps.send(self._send(step, stream))
        except StopIteration as end:
            response: httpx.Response = end.value
            return response

    def _send(self, request: httpx.Request, stream: bool) -> _Outcome:
        try:
            response = self._client.send(request, stream=stream)
            if stream and not response.is_success:
                response.read()
            return response
        except httpx.RequestError as error:
            return error

    def close(self) -> None:
        self._client.close()


class AsyncTransport:
    """Drives calls within an event loop; as `Transport` otherwise."""

    def __init__(
        self, service: str, address: str, caller: Caller | None, seconds: float, client: httpx.AsyncClient | None = None
    ) -> None:
        self._steering = _Steering(service, address, caller, seconds)
        self._client = client or httpx.AsyncClient(trust_env=False)

    async def ask(self, kind: type[M], call: Call, request_id: str = "") -> M:
        return self._steering.read(kind, await self.call(call, request_id))

    async def call(self, call: Call, request_id: str = "") -> bytes:
        return (await self._answer(call, request_id, stream=False)).content

    @asynccontextmanager
    async def stream(self, call: Call, request_id: str = "") -> AsyncIterator[AsyncIterator[bytes]]:
        end = time.monotonic() + self._steering.seconds
        response = await self._answer(call, request_id, stream=True)
        try:
            yield self._parts(response, end)
        finally:
            await response.aclose()

    async def _parts(self, response: httpx.Response, end: float) -> AsyncIterator[bytes]:
        try:
            async for part in response.aiter_bytes():
                if time.monotonic() > end:
                    raise self._steering.fault(f"did not end its answer within {self._steering.seconds:g} s")
                yield part
        except httpx.RequestError as error:
            raise self._steering.broken(error) from error

    async def _answer(self, call: Call, request_id: str, *, stream: bool) -> httpx.Response:
        steps = self._steering.steps(call, request_id)
        try:
            step = next(steps)
            while True:
                if isinstance(step, _Pause):
                    await asyncio.sleep(step.seconds)
                    step = next(steps)
                else:
                    step = steps.send(await self._send(step, stream))
        except StopIteration as end:
            response: httpx.Response = end.value
            return response

    async def _send(self, request: httpx.Request, stream: bool) -> _Outcome:
        try:
            response = await self._client.send(request, stream=stream)
            if stream and not response.is_success:
                await response.aread()
            return response
        except httpx.RequestError as error:
            return error

    async def close(self) -> None:
        await self._client.aclose()


class Client:
    """What every blocking client is: a transport to its `service`, closed at the end of a `with`."""

    service: ClassVar[str]
    seconds: ClassVar[float]
    """What a call may take where nobody says otherwise."""

    def __init__(
        self,
        address: str,
        *,
        caller: Caller | None = None,
        seconds: float | None = None,
        client: httpx.Client | None = None,
    ) -> None:
        most = self.seconds if seconds is None else seconds
        self._transport = Transport(self.service, address, caller, most, client)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncClient:
    """As `Client`, for an event loop."""

    service: ClassVar[str]
    seconds: ClassVar[float]

    def __init__(
        self,
        address: str,
        *,
        caller: Caller | None = None,
        seconds: float | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._transport = AsyncTransport(
            self.service, address, caller, self.seconds if seconds is None else seconds, client
        )

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()
