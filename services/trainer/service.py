"""What hosting adds to the delivery of runs: checks before anything is stored, events as they happen, files, readiness.

Database, queue and object store block: whatever asks them does so in a thread. The object store has threads of its
own, so that one that hangs is in the way of nothing else.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import to_thread
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, TypeVar

import structlog
from prometheus_client import CollectorRegistry

from rl_gym.infra.errors import NotFoundError, RlGymError
from rl_gym.infra.hosting.bodies import InFlight
from rl_gym.infra.hosting.errors import error_body
from rl_gym.infra.queue import check_queue
from rl_gym.training.run import DOCUMENT
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
from services.trainer.artifacts import open_artifact, read_artifacts
from services.trainer.metrics import TrainerMetrics
from services.trainer.settings import TrainerSettings
from services.trainer.submission import checked, stage_plan
from services.trainer.wiring import Parts

__all__ = ["TrainerService"]

T = TypeVar("T")

_LOOK_SECONDS = 0.5
_LIVE_SECONDS = 1.0
_COUNT_SECONDS = 15.0
_READY_SECONDS = 3.0
_MOST_EVENTS = 1_000

_log = structlog.get_logger("trainer")


class TrainerService:
    """One for an application; `open` and `close` belong to its life."""

    def __init__(self, settings: TrainerSettings, registry: CollectorRegistry, parts: Parts) -> None:
        self._settings = settings
        self._parts = parts
        self._delivery = parts.delivery
        self._metrics = TrainerMetrics(registry)
        self._counting: asyncio.Task[None] | None = None
        self.watchers = InFlight(settings.streams)
        self.downloads = InFlight(settings.downloads)
        """Held by whoever has the object store asked, which has as many threads."""

        self._store_threads = ThreadPoolExecutor(settings.downloads, thread_name_prefix="store")
        self._metrics.watched.set_function(lambda: self.watchers.count)

    async def open(self) -> None:
        self._counting = asyncio.create_task(self._count())
        for worker in self._parts.workers:
            await worker.open()

    async def close(self) -> None:
        if self._counting is not None:
            self._counting.cancel()
            await asyncio.gather(self._counting, return_exceptions=True)
        await asyncio.gather(*(worker.close() for worker in self._parts.workers))
        self._store_threads.shutdown(wait=False, cancel_futures=True)
        self._parts.live.close()
        self._delivery.close()

    async def submit(self, spec: RunSpec) -> Run:
        """Store a run that was checked and have it begun; the same spec under the same key is the run that is there.

        Raises UsageError and NotFoundError for what cannot be run, ConflictError for a key of another spec, BusyError
        where too many runs are open.
        """
        run = await to_thread(self._submit, spec)
        self._metrics.submitted.labels(spec.mode).inc()
        return run

    def _submit(self, spec: RunSpec) -> Run:
        known = self._delivery.known(spec)
        if known is not None:
            return known
        # Without keys of principals only this very machine is served, whose own files these are.
        trusted = not self._settings.principal_keys
        config = checked(spec, self._settings, works_here=bool(self._parts.workers), trusted=trusted)
        return self._delivery.submit(spec, config.model_dump(mode="json"), stage_plan(config))

    async def cancel(self, run: str) -> Run:
        return await to_thread(self._delivery.cancel, run)

    async def retry(self, run: str) -> Run:
        return await to_thread(self._delivery.retry, run)

    async def run(self, run: str) -> Run:
        return await to_thread(self._delivery.run, run)

    async def runs(self, state: RunState | None, limit: int) -> RunsResponse:
        return RunsResponse(runs=await to_thread(self._delivery.runs, state=state, limit=limit))

    async def models(self, limit: int) -> ModelsResponse:
        return ModelsResponse(models=await to_thread(self._delivery.models, limit=limit))

    async def events(self, run: str, *, after: int, limit: int, seconds: float) -> EventsResponse:
        """What happened after an event; where nothing did yet, wait so many seconds for it, or for the run's end."""
        end = time.monotonic() + seconds
        while True:
            found = await to_thread(self._look, run, after, limit)
            left = end - time.monotonic()
            if found.events or found.state in ENDED or left <= 0:
                return found
            await asyncio.sleep(min(_LOOK_SECONDS, left))

    async def stream(self, run: str, *, after: int) -> AsyncGenerator[RunEvent | Run, None]:
        """What happens after an event, as it does; last the run, once it has ended.

        Raises NotFoundError for a run that there is not, before the first. Ends without the run after `stream_seconds`.
        """
        await self.run(run)
        return self._followed(run, after)

    async def _followed(self, run: str, after: int) -> AsyncGenerator[RunEvent | Run, None]:
        end = time.monotonic() + self._settings.stream_seconds
        told: LiveProgress | None = None
        while (left := end - time.monotonic()) > 0:
            found = await self.events(run, after=after, limit=_MOST_EVENTS, seconds=min(left, _LIVE_SECONDS))
            for event in found.events:
                yield event
                after = event.number
            if found.live is not None and found.live != told:
                told = found.live
                yield live_event(run, after, told)
            if not found.events and found.state in ENDED:
                yield await self.run(run)
                return

    def _look(self, run: str, after: int, limit: int) -> EventsResponse:
        # The state first: whatever led to it is then among the events.
        now = self._delivery.run(run)
        events = self._delivery.events(run, after=after, limit=limit)
        return EventsResponse(state=now.state, events=events, live=self._live(now))

    def _live(self, run: Run) -> LiveProgress | None:
        """What the attempt that is at work has just said; what one before it said does not count."""
        at_work = [(stage.stage, stage.attempt) for stage in run.stages if stage.state == "running"]
        live = self._parts.live.latest(run.id) if at_work else None
        return live if live is not None and (live.stage, live.attempt) in at_work else None

    async def artifacts(self, run: str, stage: str) -> ArtifactsResponse:
        """The files of a stage that has ended; NotFoundError for any other."""
        names = [one.stage for one in (await self.run(run)).stages]
        if stage not in names:
            raise NotFoundError(f"run {run} has no stage {stage!r}, but {', '.join(names)}")
        found = await self._stored(lambda: read_artifacts(self._parts.store(), run, stage))
        if found is None:
            raise NotFoundError(f"run {run}: stage {stage} has not ended, and has no files yet")
        return ArtifactsResponse(run=run, stage=stage, digest=found.digest, files=dict(found.files))

    async def file(self, run: str, stage: str, name: str) -> BinaryIO:
        """A stream over a file of a stage that has ended, for the caller to close; NotFoundError for any other."""
        return await self._stored(lambda: open_artifact(self._parts.store(), run, stage, name))

    async def read(self, stream: BinaryIO, most: int) -> bytes:
        """At most so many bytes of such a stream; none at its end."""
        return await self._stored(lambda: stream.read(most))

    async def document(self, run: str) -> bytes:
        """The document of a run: its configuration resolved, versions, digests; NotFoundError until its first stage."""
        await self.run(run)
        return await self._stored(lambda: self._parts.store().get(f"runs/{run}/{DOCUMENT}").body)

    async def _stored(self, ask: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._store_threads, ask)

    async def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Whether runs can be taken and sent now, and how database and queue are, each by itself."""
        database, queue = await asyncio.gather(
            _trouble("the database", self._delivery.counts), _trouble("Redis", lambda: check_queue(self._parts.queue))
        )
        said = "; ".join(trouble for trouble in (database, queue) if trouble)
        return not said, {
            **(error_body("not_ready", said) if said else {}),
            "status": "not_ready" if said else "ready",
            "database": {"status": "not_ready" if database else "ready", "trouble": database},
            "queue": {"status": "not_ready" if queue else "ready", "trouble": queue},
            "workers": {worker.name: worker.state for worker in self._parts.workers},
        }

    async def _count(self) -> None:
        """Keep the figures of /metrics of runs for as long as the service lives."""
        while True:
            try:
                self._metrics.counted(await to_thread(self._delivery.counts))
            except Exception as error:
                # Of whatever kind: without this task the figures would stand still, and nobody be told.
                _log.warning("runs cannot be counted for now", reason=f"{type(error).__name__}: {error}")
            await asyncio.sleep(_COUNT_SECONDS)


async def _trouble(what: str, ask: Callable[[], object]) -> str:
    """That something fails which is asked in a thread; empty where it answers in time.

    Anybody may read it, so where it is and what it said goes to the log.
    """
    try:
        await asyncio.wait_for(to_thread(ask), _READY_SECONDS)
    except TimeoutError:
        return f"{what} gave no answer within {_READY_SECONDS:g} s"
    except RlGymError as error:
        _log.warning("not ready", reason=str(error))
        return f"{what} is away or fails: the log says more"
    return ""
