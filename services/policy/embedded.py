"""The engine that needs no server: models that this process loads and runs itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import structlog

from rl_gym.infra.errors import InfrastructureError, RlGymError
from rl_gym.serving.backends.transformers import TransformersBackend
from services.policy.supervision import EngineState, OnUp, Status

__all__ = ["EmbeddedEngine"]

_log = structlog.get_logger(__name__)


class EmbeddedEngine:
    """An Engine without an address: it comes up by loading models into `backend`, and fails where one does not load."""

    address = ""
    api_key = ""

    def __init__(self, backend: TransformersBackend, models: Mapping[str, Path]) -> None:
        self._backend, self._models = backend, models
        self._status: Status = "starting"
        self._trouble = ""
        self._loading: asyncio.Task[None] | None = None
        self.on_up: OnUp = _nothing

    def state(self) -> EngineState:
        return EngineState(status=self._status, trouble=self._trouble)

    async def open(self) -> None:
        """Begin; the models load meanwhile."""
        self._loading = asyncio.create_task(self._load())

    async def _load(self) -> None:
        try:
            for name, folder in self._models.items():
                await self._backend.load(name, folder)
            await self.on_up()
        except RlGymError as error:
            self._status, self._trouble = "failed", str(error)
            _log.error("engine failed", reason=self._trouble)
        else:
            self._status = "ready"

    async def ready(self) -> None:
        """Wait until the models are there. Raises InfrastructureError where one does not load."""
        if self._loading is not None:
            await asyncio.shield(self._loading)
        if self._status != "ready":
            raise InfrastructureError(f"the engine is {self._status}{f': {self._trouble}' if self._trouble else ''}")

    async def close(self) -> None:
        self._status = "draining"
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.gather(self._loading, return_exceptions=True)


async def _nothing() -> None:
    return None
