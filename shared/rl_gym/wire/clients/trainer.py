"""Clients of the trainer, blocking and asynchronous."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from urllib.parse import quote

from rl_gym.infra.errors import InfrastructureError, NotFoundError
from rl_gym.wire.clients.calls import AsyncClient, Call, Client, Repeat
from rl_gym.wire.model import Model
from rl_gym.wire.run import (
    ENDED,
    ArtifactsResponse,
    EventsResponse,
    LiveProgress,
    ModelsResponse,
    Run,
    RunEvent,
    RunSpec,
    RunsResponse,
    RunState,
    live_event,
)

__all__ = ["AsyncTrainerClient", "TrainerClient"]

_SERVICE = "trainer"
_SECONDS = 120.0
_MOST_EVENTS = 1_000
_WAIT_SECONDS = 1
_PATIENCE_SECONDS = 600.0
"""How long a trainer that is watched may give no answer: it may be about to be started again."""

_PAUSE_SECONDS = 2.0


def _submit(spec: RunSpec) -> Call:
    repeat = Repeat.FREELY if spec.idempotency_key else Repeat.UNLESS_BEGUN
    return Call("POST", "/runs", spec.model_dump_json().encode(), repeat=repeat)


def _runs(state: RunState | None, limit: int) -> Call:
    return Call("GET", "/runs", query={"limit": str(limit), **({"state": state} if state else {})})


def _events(run: str, after: int, limit: int, wait: float) -> Call:
    return Call("GET", _path(run, "events"), query={"after": str(after), "limit": str(limit), "wait": f"{wait:g}"})


def _models(limit: int) -> Call:
    return Call("GET", "/models", query={"limit": str(limit)})


def _path(run: str, *more: str) -> str:
    if "/" in run:
        raise NotFoundError(f"no run {run!r}: an id has no slash")
    return "/".join(["/runs", *(quote(part, safe="") for part in (run, *more))])


def _file(run: str, stage: str, name: str) -> Call:
    return Call("GET", f"{_path(run, 'artifacts', stage)}/{quote(name)}")


class _Watch:
    """What was read of a run's events, and since when there was no answer."""

    def __init__(self, after: int) -> None:
        self._after = after
        self._heard = time.monotonic()
        self._live: LiveProgress | None = None
        self.ended = False

    def call(self, run: str) -> Call:
        return _events(run, self._after, _MOST_EVENTS, _WAIT_SECONDS)

    def read(self, run: str, found: EventsResponse) -> list[RunEvent]:
        """What is new: what happened, and how far the stage at work is now, where it has gone on."""
        self._heard = time.monotonic()
        events = list(found.events)
        if events:
            self._after = events[-1].number
        if found.live is not None and found.live != self._live:
            self._live = found.live
            events.append(live_event(run, self._after, found.live))
        self.ended = not found.events and found.state in ENDED
        return events

    def bear(self, error: InfrastructureError) -> None:
        """Raise the error once there was none but those for too long."""
        if time.monotonic() - self._heard > _PATIENCE_SECONDS:
            raise error


class TrainerClient(Client):
    """Blocks until an answer is there, `seconds` at most with all tries.

    Every method raises of the family of RlGymError: UsageError and its like for what the service refuses, ConflictError
    for what does not go with the state of a run, InfrastructureError where it does not answer. `request_id` names the
    call in all logs. A spec with an idempotency key is submitted again freely, since it is one run.
    """

    service = _SERVICE
    seconds = _SECONDS

    def submit(self, spec: RunSpec, request_id: str = "") -> Run:
        return self._transport.ask(Run, _submit(spec), request_id)

    def runs(self, state: RunState | None = None, limit: int = 100, request_id: str = "") -> list[Run]:
        """The latest runs, the newest first."""
        return self._transport.ask(RunsResponse, _runs(state, limit), request_id).runs

    def run(self, run: str, request_id: str = "") -> Run:
        return self._transport.ask(Run, Call("GET", _path(run)), request_id)

    def cancel(self, run: str, request_id: str = "") -> Run:
        return self._transport.ask(Run, Call("POST", _path(run, "cancel")), request_id)

    def retry(self, run: str, request_id: str = "") -> Run:
        """Try again what is dead or failed of a run; ConflictError where nothing is."""
        call = Call("POST", _path(run, "retry"), repeat=Repeat.UNLESS_BEGUN)
        return self._transport.ask(Run, call, request_id)

    def events(
        self, run: str, *, after: int = 0, limit: int = _MOST_EVENTS, wait: float = 0, request_id: str = ""
    ) -> EventsResponse:
        """What happened after an event; where nothing did yet, the service waits so many seconds for it."""
        return self._transport.ask(EventsResponse, _events(run, after, limit, wait), request_id)

    def watch(self, run: str, *, after: int = 0) -> Generator[RunEvent, None, None]:
        """What happens after an event, as it does, until the run has ended.

        A trainer that is away for some minutes meanwhile is waited for.
        """
        watch = _Watch(after)
        while True:
            try:
                found = self._transport.ask(EventsResponse, watch.call(run))
            except InfrastructureError as error:
                watch.bear(error)
                time.sleep(_PAUSE_SECONDS)
                continue
            yield from watch.read(run, found)
            if watch.ended:
                return

    def models(self, limit: int = 100, request_id: str = "") -> list[Model]:
        """The latest models, the newest first."""
        return self._transport.ask(ModelsResponse, _models(limit), request_id).models

    def document(self, run: str, request_id: str = "") -> bytes:
        """The run's document, JSON; NotFoundError until its first stage has begun."""
        return self._transport.call(Call("GET", _path(run, "document")), request_id)

    def artifacts(self, run: str, stage: str, request_id: str = "") -> ArtifactsResponse:
        """The files of a stage that has ended; NotFoundError for any other."""
        return self._transport.ask(ArtifactsResponse, Call("GET", _path(run, "artifacts", stage)), request_id)

    def file(self, run: str, stage: str, name: str, request_id: str = "") -> AbstractContextManager[Iterator[bytes]]:
        """One file of a stage, in parts as they arrive: nobody has compared it with its digest."""
        return self._transport.stream(_file(run, stage, name), request_id)


class AsyncTrainerClient(AsyncClient):
    """As `TrainerClient`, for an event loop."""

    service = _SERVICE
    seconds = _SECONDS

    async def submit(self, spec: RunSpec, request_id: str = "") -> Run:
        return await self._transport.ask(Run, _submit(spec), request_id)

    async def runs(self, state: RunState | None = None, limit: int = 100, request_id: str = "") -> list[Run]:
        """The latest runs, the newest first."""
        return (await self._transport.ask(RunsResponse, _runs(state, limit), request_id)).runs

    async def run(self, run: str, request_id: str = "") -> Run:
        return await self._transport.ask(Run, Call("GET", _path(run)), request_id)

    async def cancel(self, run: str, request_id: str = "") -> Run:
        return await self._transport.ask(Run, Call("POST", _path(run, "cancel")), request_id)

    async def retry(self, run: str, request_id: str = "") -> Run:
        """Try again what is dead or failed of a run; ConflictError where nothing is."""
        call = Call("POST", _path(run, "retry"), repeat=Repeat.UNLESS_BEGUN)
        return await self._transport.ask(Run, call, request_id)

    async def events(
        self, run: str, *, after: int = 0, limit: int = _MOST_EVENTS, wait: float = 0, request_id: str = ""
    ) -> EventsResponse:
        """What happened after an event; where nothing did yet, the service waits so many seconds for it."""
        return await self._transport.ask(EventsResponse, _events(run, after, limit, wait), request_id)

    async def watch(self, run: str, *, after: int = 0) -> AsyncGenerator[RunEvent, None]:
        """As `TrainerClient.watch`."""
        watch = _Watch(after)
        while True:
            try:
                found = await self._transport.ask(EventsResponse, watch.call(run))
            except InfrastructureError as error:
                watch.bear(error)
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            for event in watch.read(run, found):
                yield event
            if watch.ended:
                return

    async def models(self, limit: int = 100, request_id: str = "") -> list[Model]:
        """The latest models, the newest first."""
        return (await self._transport.ask(ModelsResponse, _models(limit), request_id)).models

    async def document(self, run: str, request_id: str = "") -> bytes:
        """The run's document, JSON; NotFoundError until its first stage has begun."""
        return await self._transport.call(Call("GET", _path(run, "document")), request_id)

    async def artifacts(self, run: str, stage: str, request_id: str = "") -> ArtifactsResponse:
        """The files of a stage that has ended; NotFoundError for any other."""
        return await self._transport.ask(ArtifactsResponse, Call("GET", _path(run, "artifacts", stage)), request_id)

    def file(
        self, run: str, stage: str, name: str, request_id: str = ""
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """One file of a stage, in parts as they arrive: nobody has compared it with its digest."""
        return self._transport.stream(_file(run, stage, name), request_id)
