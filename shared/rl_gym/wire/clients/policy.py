"""Clients of the policy service, blocking and asynchronous."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator

from pydantic import TypeAdapter, ValidationError

from rl_gym.infra.errors import InfrastructureError
from rl_gym.wire.clients.calls import AsyncClient, Call, Client, Repeat
from rl_gym.wire.clients.events import EventReader
from rl_gym.wire.complete import CompleteRequest, CompleteResponse
from rl_gym.wire.config import ConfigResponse, ReloadResponse
from rl_gym.wire.generate import AnswerEvent, ColumnName, GenerateEvent, GenerateRequest, GenerateResponse

__all__ = ["AsyncPolicyClient", "PolicyClient"]

_SERVICE = "policy service"
_SECONDS = 300.0
_KINDS = {"tokens", "pass", "answer"}

_event: TypeAdapter[GenerateEvent] = TypeAdapter(GenerateEvent)


def _complete(request: CompleteRequest) -> Call:
    return Call("POST", "/complete", request.model_dump_json().encode(), repeat=Repeat.UNLESS_BEGUN)


def _generate(request: GenerateRequest, *, stream: bool) -> Call:
    body = request.model_copy(update={"stream": stream}).model_dump_json().encode()
    return Call("POST", "/generate", body, repeat=Repeat.UNLESS_BEGUN)


_CONFIG = Call("GET", "/config")
_RELOAD = Call("POST", "/reload")


class _Answers:
    """Reads the events of a stream, and knows whose answer is missing yet."""

    def __init__(self, request: GenerateRequest) -> None:
        self._missing: set[ColumnName] = set(request.engines)
        self._reader = EventReader()

    @property
    def complete(self) -> bool:
        return not self._missing

    def feed(self, part: bytes) -> Iterator[GenerateEvent]:
        """The events that have arrived with a part. Raises InfrastructureError for what is none."""
        for sent in self._reader.feed(part):
            if sent.name not in _KINDS:
                continue
            try:
                event = _event.validate_json(sent.data)
            except ValidationError:
                raise InfrastructureError(f"the {_SERVICE} sent an event {sent.name!r} that is none") from None
            if isinstance(event, AnswerEvent):
                self._missing.discard(event.answer.column)
            yield event

    def end(self) -> None:
        """Raises InfrastructureError where answers are missing."""
        if self._missing:
            missing = ", ".join(sorted(self._missing))
            raise InfrastructureError(f"the {_SERVICE} ended the stream without an answer of {missing}")


class PolicyClient(Client):
    """Blocks until an answer is there, `seconds` at most with all tries.

    Every method raises of the family of RlGymError: UsageError and its like for what the service refuses, BusyError
    where it is full, InfrastructureError where it does not answer. `request_id` names the call in all logs. What costs
    money and time (`complete`, `generate`, `stream`) is tried again only where the service has surely not begun it.
    """

    service = _SERVICE
    seconds = _SECONDS

    def complete(self, request: CompleteRequest, request_id: str = "") -> CompleteResponse:
        return self._transport.ask(CompleteResponse, _complete(request), request_id)

    def generate(self, request: GenerateRequest, request_id: str = "") -> GenerateResponse:
        """The whole answer, whatever `request.stream` is."""
        return self._transport.ask(GenerateResponse, _generate(request, stream=False), request_id)

    def stream(self, request: GenerateRequest, request_id: str = "") -> Generator[GenerateEvent, None, None]:
        """The answer as it comes about, until every column has its own; whoever stops reading stops the work.

        Raises InfrastructureError where the stream ends before.
        """
        answers = _Answers(request)
        with self._transport.stream(_generate(request, stream=True), request_id) as parts:
            for part in parts:
                yield from answers.feed(part)
                if answers.complete:
                    return
        answers.end()

    def config(self, request_id: str = "") -> ConfigResponse:
        return self._transport.ask(ConfigResponse, _CONFIG, request_id)

    def reload(self, request_id: str = "") -> ReloadResponse:
        """Let the service look at the promoted model now."""
        return self._transport.ask(ReloadResponse, _RELOAD, request_id)


class AsyncPolicyClient(AsyncClient):
    """As `PolicyClient`, for an event loop."""

    service = _SERVICE
    seconds = _SECONDS

    async def complete(self, request: CompleteRequest, request_id: str = "") -> CompleteResponse:
        return await self._transport.ask(CompleteResponse, _complete(request), request_id)

    async def generate(self, request: GenerateRequest, request_id: str = "") -> GenerateResponse:
        """The whole answer, whatever `request.stream` is."""
        return await self._transport.ask(GenerateResponse, _generate(request, stream=False), request_id)

    async def stream(self, request: GenerateRequest, request_id: str = "") -> AsyncGenerator[GenerateEvent, None]:
        """As `PolicyClient.stream`; close the iterator (`contextlib.aclosing`) to stop before its end."""
        answers = _Answers(request)
        async with self._transport.stream(_generate(request, stream=True), request_id) as parts:
            async for part in parts:
                for event in answers.feed(part):
                    yield event
                if answers.complete:
                    return
        answers.end()

    async def config(self, request_id: str = "") -> ConfigResponse:
        return await self._transport.ask(ConfigResponse, _CONFIG, request_id)

    async def reload(self, request_id: str = "") -> ReloadResponse:
        """Let the service look at the promoted model now."""
        return await self._transport.ask(ReloadResponse, _RELOAD, request_id)
