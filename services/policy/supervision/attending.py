"""What watching over an engine is, whoever started it: its status, who waits for it, and who hears that it came up."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

import structlog

from rl_gym.infra.errors import InfrastructureError, one_line
from services.policy.supervision.engine import EngineState, OnUp, Status
from services.policy.supervision.patience import Patience
from services.policy.supervision.probe import Probe

__all__ = ["Attending"]

_LONGEST_TROUBLE = 1_000

_log = structlog.get_logger(__name__)


class Attending(ABC):
    """The common part of every Engine; `_keep` is what each does for as long as it lives."""

    def __init__(self, address: str, api_key: str, probe: Probe, patience: Patience) -> None:
        self.address, self.api_key = address, api_key
        self.on_up: OnUp = _nothing
        self._patience = patience
        self._probe = probe
        self._status: Status = "starting"
        self._trouble = ""
        self._settled = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    @abstractmethod
    def state(self) -> EngineState: ...

    @abstractmethod
    async def _keep(self) -> None:
        """Keep `_status` and `_trouble` true. Raises InfrastructureError once the engine failed for good."""

    async def open(self) -> None:
        """Begin; the engine comes up meanwhile."""
        self._keeping = asyncio.create_task(self._keep_until_failed())

    async def ready(self) -> None:
        """Wait until it answers. Raises InfrastructureError, with what to do, once it failed for good."""
        await self._settled.wait()
        if self._status != "ready":
            raise InfrastructureError(f"the engine is {self._status}{f': {self._trouble}' if self._trouble else ''}")

    async def close(self) -> None:
        """Watch no more."""
        self._set("draining")
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        await self._probe.close()

    async def _keep_until_failed(self) -> None:
        try:
            await self._keep()
        except InfrastructureError as error:
            self._blame(str(error))
        except Exception as error:
            self._blame(f"the supervision ended: {type(error).__name__}: {error}")
            _log.error("the supervision ended", exc_info=error)
        self._set("failed")
        _log.error("engine failed", reason=self._trouble)

    async def _tell_up(self) -> None:
        """Have loaded what the engine has to hold; it serves without, where that fails."""
        try:
            async with asyncio.timeout(self._patience.start_seconds):
                await self.on_up()
        except (InfrastructureError, TimeoutError) as error:
            self._blame(f"what the engine has to hold was not loaded: {str(error) or 'it took too long'}")
            _log.error("engine came up with less than it has to hold", reason=self._trouble)

    def _blame(self, reason: str) -> None:
        self._trouble = one_line(reason, _LONGEST_TROUBLE)

    def _set(self, status: Status) -> None:
        self._status = status
        if status in ("starting", "restarting"):
            self._settled.clear()
        else:
            self._settled.set()


async def _nothing() -> None:
    return None
