"""Watches a vLLM server that somebody else starts, ends and starts again, such as a container beside the service."""

from __future__ import annotations

import asyncio
import time

import httpx
import structlog

from rl_gym.infra.errors import InfrastructureError
from rl_gym.serving.backends.openai.address import root
from services.policy.supervision.attending import Attending
from services.policy.supervision.engine import EngineState
from services.policy.supervision.patience import Patience
from services.policy.supervision.probe import Probe

__all__ = ["Watched"]

_LOOK_SECONDS = 2
"""Far less than a server takes to start, so that none is missed that was gone in between."""

_log = structlog.get_logger(__name__)


class Watched(Attending):
    """An Engine at an address, which may end in `/v1`; it never fails for good, since it may come back at any time."""

    def __init__(
        self,
        address: str,
        api_key: str,
        model: str,
        patience: Patience | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`model` is the name of its base model. Raises UsageError for what is no address."""
        address = f"{root(address)}/v1"
        super().__init__(address, api_key, Probe(address, api_key, model, transport), patience or Patience())
        self._returns = 0

    def state(self) -> EngineState:
        return EngineState(status=self._status, restarts=self._returns, trouble=self._trouble)

    async def _keep(self) -> None:
        while True:
            try:
                await self._probe.lists()
                await self._probe.token(self._patience.token_seconds)
                await self._tell_up()
                self._returns += self._status == "restarting"
                self._set("ready")
                _log.info("engine answers", address=self.address)
                await self._watch()
            except InfrastructureError as error:
                self._lost(str(error))
                await asyncio.sleep(_LOOK_SECONDS)

    def _lost(self, reason: str) -> None:
        before = self._trouble
        self._blame(reason)
        if self._trouble != before:
            _log.warning("engine does not answer", address=self.address, reason=self._trouble)
        if self._status == "ready":
            self._set("restarting")

    async def _watch(self) -> None:
        """Look whether it is there, and ask for a token now and then. Raises InfrastructureError once it is not."""
        asked = time.monotonic()
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            await self._probe.lists()
            if time.monotonic() - asked >= self._patience.quiet_seconds:
                if not await self._probe.busy():
                    await self._probe.token(self._patience.token_seconds)
                asked = time.monotonic()
