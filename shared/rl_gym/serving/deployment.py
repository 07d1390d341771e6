"""Which model a column serves now, and the change to another one while it serves.

A promoted model is fetched, loaded under a name of its own, and asked the canary; only then do new requests go to it.
Those that began with the old one end with it, and then it is unloaded. On any failure the old one stays.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from rl_gym.infra.errors import InfrastructureError, RlGymError, UsageError, one_line
from rl_gym.infra.object_store import ObjectStore
from rl_gym.infra.signing import KeyRing
from rl_gym.serving.adapters import fetch
from rl_gym.serving.backends import AdapterHost, ModelBackend
from rl_gym.serving.canary import Canary
from rl_gym.serving.promotion import promoted
from rl_gym.wire import PromotedPointer, ReloadResponse, ServedModel

__all__ = ["Deployment", "Promotions"]

_LOAD_SECONDS = 300.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 30.0, 600.0
_LONGEST_TROUBLE = 1_500

_log = structlog.get_logger("deployment")


@dataclass(frozen=True, slots=True)
class Promotions:
    """Where promoted models come from: the store, the keys that are believed, and the folder to fetch them into."""

    store: Callable[[], ObjectStore]
    keys: KeyRing
    cache: Path


@dataclass(eq=False, slots=True)
class _Live:
    """A model that the engine answers for, and how many requests are at it."""

    model: ServedModel
    leases: int = 0


@dataclass(frozen=True, slots=True)
class _Refused:
    """A promotion that failed, and when it is worth another try."""

    pointer: PromotedPointer
    reason: str
    pause: float
    again_at: float


class Deployment:
    """The model behind a column. For one event loop.

    `base` is the engine's base model, and `first` serves until a model is promoted: the engine holds both by itself.
    """

    def __init__(
        self,
        backend: ModelBackend,
        base: ServedModel,
        first: ServedModel,
        promotions: Promotions,
        canary: Canary,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend, self._base, self._promotions, self._canary = backend, base, promotions, canary
        self._clock = clock
        self._current = _Live(first)
        self._live: dict[str, _Live] = {}
        """What was loaded here, by name; what requests have begun with is among it until they end."""
        self._hosting = asyncio.Lock()
        self._newest = -1
        self._refused: _Refused | None = None
        self._reloading: asyncio.Task[ReloadResponse] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self.promoted: str | None = None
        """The digest that the pointer named when it was read last."""
        self.trouble = ""
        """Why that does not serve; empty where it does."""

    def current(self) -> ServedModel:
        """What a new request goes to."""
        return self._current.model

    @contextmanager
    def lease(self) -> Iterator[ServedModel]:
        """The current model, which is not unloaded before the end of this block."""
        live = self._current
        live.leases += 1
        try:
            yield live.model
        finally:
            live.leases -= 1
            self._retire(live)

    async def reload(self, *, patient: bool = False) -> ReloadResponse:
        """Read the pointer, and change to the model that it names. Whoever asks meanwhile gets the same answer.

        Never raises for what is wrong with a promotion: the answer says it. `patient` leaves one alone that failed a
        moment ago, for a pause that grows with every failure.
        """
        if self._reloading is None or self._reloading.done():
            self._reloading = asyncio.create_task(self._reload(patient))
        return await asyncio.shield(self._reloading)

    async def _reload(self, patient: bool) -> ReloadResponse:
        before = self.current()
        try:
            await self._follow(patient)
        except RlGymError as error:
            return self._kept(str(error))
        except Exception as error:
            # Whoever polls is to go on polling.
            _log.exception("unexpected")
            return self._kept(f"{type(error).__name__}: {error}")
        self.trouble = ""
        return ReloadResponse(outcome="unchanged" if self.current() == before else "switched", model=self.current())

    def _kept(self, reason: str) -> ReloadResponse:
        before, self.trouble = self.trouble, one_line(reason, _LONGEST_TROUBLE)
        if self.trouble != before:
            _log.warning("the promoted model does not serve", reason=self.trouble, digest=self.promoted)
        return ReloadResponse(outcome="kept", model=self.current(), trouble=self.trouble)

    async def _follow(self, patient: bool) -> None:
        pointer = await asyncio.to_thread(self._pointer)
        self.promoted = None if pointer is None else pointer.adapter_digest
        if pointer is None:
            return
        if pointer.number < self._newest:
            raise InfrastructureError(f"promotion {pointer.number} is older than {self._newest}, which was seen before")
        self._newest = pointer.number
        if pointer.adapter_digest == self.current().adapter_digest:
            return
        refused = self._refused if self._refused and self._refused.pointer == pointer else None
        if patient and refused and self._clock() < refused.again_at:
            raise InfrastructureError(refused.reason)
        try:
            await self._switch(pointer)
        except RlGymError as error:
            pause = min(2 * refused.pause, _LONGEST_PAUSE_SECONDS) if refused else _FIRST_PAUSE_SECONDS
            self._refused = _Refused(pointer, str(error), pause, self._clock() + pause)
            raise

    def _pointer(self) -> PromotedPointer | None:
        found = promoted(self._promotions.store(), self._promotions.keys)
        return None if found is None else found.pointer

    async def _switch(self, pointer: PromotedPointer) -> None:
        if pointer.base != self._base.base:
            raise UsageError(f"model {pointer.model} is made of {pointer.base}, and the engine runs {self._base.base}")
        new = await self._loaded(pointer.adapter_digest)
        # Held like by a request, so that nothing unloads it meanwhile.
        new.leases += 1
        try:
            await self._canary.check(self._backend, new.model.name, self._base.name)
            old, self._current = self._current, new
        finally:
            new.leases -= 1
            await self._unload_unused(new)
        _log.info("another model serves", model=new.model.name, before=old.model.name, run=pointer.run)
        self._retire(old)

    async def _loaded(self, digest: str) -> _Live:
        """A model that the engine answers for: loaded now, or still there for requests that began with it."""
        name = f"tuned-{digest[:12]}"
        async with self._hosting:
            if name not in self._live:
                await self._load(name, digest)
                model = self._base.model_copy(update={"name": name, "adapter_digest": digest})
                self._live[name] = _Live(model)
            return self._live[name]

    async def _load(self, name: str, digest: str) -> None:
        if not isinstance(self._backend, AdapterHost):
            raise UsageError(f"the engine {self._backend.engine} takes no model while it runs")
        store, cache = self._promotions.store(), self._promotions.cache
        folder = await asyncio.to_thread(fetch, store, digest, cache, lambda: not self._closed)
        try:
            async with asyncio.timeout(_LOAD_SECONDS):
                await self._backend.load(name, folder)
        except BaseException as error:
            # It may be there in spite of that.
            with suppress(RlGymError):
                await self._backend.unload(name)
            if isinstance(error, TimeoutError):
                raise InfrastructureError(f"the engine did not load {name} within {_LOAD_SECONDS:g} s") from None
            raise

    async def restore(self) -> None:
        """Load again what was loaded here, into an engine that came up anew.

        Raises as fetching and loading do where that fails for the current model.
        """
        async with self._hosting:
            for live in list(self._live.values()):
                assert live.model.adapter_digest is not None
                try:
                    await self._load(live.model.name, live.model.adapter_digest)
                except RlGymError as error:
                    if live is self._current:
                        raise
                    _log.warning("a model was not loaded again", model=live.model.name, reason=str(error))

    def _retire(self, live: _Live) -> None:
        """Unload a model once nothing needs it any more; nobody waits for that."""
        if live is not self._current and not live.leases and live.model.name in self._live:
            self._spawn(self._unload_unused(live))

    async def _unload_unused(self, live: _Live) -> None:
        name = live.model.name
        async with self._hosting:
            if live is self._current or live.leases or self._live.get(name) is not live:
                return
            del self._live[name]
            assert isinstance(self._backend, AdapterHost)
            try:
                await self._backend.unload(name)
            except RlGymError as error:
                _log.warning("a model was not unloaded", model=name, reason=str(error))

    def _spawn(self, job: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End what is under way; the engine keeps what it holds."""
        self._closed = True
        tasks = [*self._tasks, *([self._reloading] if self._reloading else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
