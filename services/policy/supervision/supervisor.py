"""Keeps a vLLM server up: walks its ladder until one starts, watches it, starts it again, and ends it."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import structlog

from rl_gym.infra.errors import InfrastructureError
from services.policy.supervision.attending import Attending
from services.policy.supervision.diagnosis import Trouble, diagnose
from services.policy.supervision.engine import EngineState
from services.policy.supervision.ladder import Device, EngineFlags, ladder
from services.policy.supervision.patience import Patience, Restarts
from services.policy.supervision.probe import Probe
from services.policy.supervision.process import EngineProcess, command

__all__ = ["Supervisor"]

_LOOK_SECONDS = 0.5

_log = structlog.get_logger(__name__)


class Supervisor(Attending):
    """An Engine that is a child of this process, on loopback and a port of its own."""

    def __init__(self, python: Path, flags: EngineFlags, device: Device, patience: Patience | None = None) -> None:
        self._port = _take_port()
        self._port_number = self._port.getsockname()[1]
        address = f"http://127.0.0.1:{self._port_number}/v1"
        api_key = secrets.token_urlsafe(32)
        super().__init__(address, api_key, Probe(address, api_key, flags.name), patience or Patience())
        self._python, self._device = python, device
        self._rungs = ladder(flags, device)
        self._rung = 0
        self._accepted = False
        self._restarts = Restarts(self._patience)
        self._process: EngineProcess | None = None

    def state(self) -> EngineState:
        rung = self._rungs[self._rung]
        runs = self._status in ("ready", "draining") and self._process is not None
        return EngineState(
            status=self._status,
            flags=rung.flags.shown() if runs else {},
            rung=rung.name if runs else "",
            restarts=self._restarts.total,
            trouble=self._trouble,
        )

    async def close(self) -> None:
        """Let it finish what it is at, then end it; no process is left."""
        served = self._status == "ready"
        await super().close()
        if self._process is not None:
            # What never served has nothing to finish, and takes its time to hear of a signal.
            await (self._process.stop(self._patience.stop_seconds) if served else self._process.kill())
            self._process = None
        self._port.close()

    async def _keep(self) -> None:
        while True:
            began = time.monotonic()
            trouble = await self._run_once()
            if self._process is not None:
                await self._process.kill()
                self._process = None
            pause = self._choose(trouble, time.monotonic() - began)
            await asyncio.sleep(pause)

    async def _run_once(self) -> Trouble:
        """Start the engine as the current rung says, and say why it is no more, once it is."""
        rung = self._rungs[self._rung]
        _log.info("engine starts", rung=rung.name, flags=rung.flags.shown())
        words = command(self._python, self._port_number, rung.flags.arguments())
        began = time.monotonic()
        self._process = await EngineProcess.start(words, self._device, self.api_key)
        ended = asyncio.create_task(self._process.wait())
        try:
            if trouble := await self._until(ended, self._come_up()):
                return trouble
            self._accepted = True
            _log.info("engine answers", rung=rung.name, seconds=round(time.monotonic() - began, 1))
            if trouble := await self._until(ended, self._tell_up()):
                return trouble
            self._set("ready")
            return await self._until(ended, self._watch()) or Trouble("other", "it is watched no more")
        finally:
            ended.cancel()

    async def _until(self, ended: asyncio.Task[str], work: Coroutine[Any, Any, None]) -> Trouble | None:
        """Do something while the process lives: None once it is done, else what was wrong."""
        working = asyncio.create_task(work)
        try:
            await asyncio.wait({ended, working}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                assert self._process is not None
                return diagnose(ended.result(), self._process.lines)
            await working
        except InfrastructureError as error:
            return Trouble("other", str(error))
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        return None

    async def _come_up(self) -> None:
        """Wait until it lists its model and has generated a token with it."""
        ends = time.monotonic() + self._patience.start_seconds
        while True:
            try:
                await self._probe.lists()
                break
            except InfrastructureError as error:
                if time.monotonic() > ends:
                    raise InfrastructureError(f"not up within {self._patience.start_seconds:g} s: {error}") from None
                await asyncio.sleep(_LOOK_SECONDS)
        await self._probe.token(max(1.0, ends - time.monotonic()))

    async def _watch(self) -> None:
        """Ask for a token now and then. Raises InfrastructureError where none comes."""
        while True:
            await asyncio.sleep(self._patience.quiet_seconds)
            if not await self._probe.busy():
                await self._probe.token(self._patience.token_seconds)

    def _choose(self, trouble: Trouble, seconds: float) -> float:
        """Choose the rung to go on with: how long to pause before. Raises InfrastructureError where there is none.

        Until a rung was accepted the ladder is walked; from then on what fails is started again as it was, or with less
        where it soon ran out of memory.
        """
        refused = self._rungs[self._rung].name
        self._blame(f"{refused}: {trouble.text}")
        is_last = self._rung + 1 == len(self._rungs)
        if not self._accepted:
            _log.warning("rung refused", rung=refused, reason=trouble.text)
            if trouble.cause == "setup" or is_last:
                raise InfrastructureError(f"vLLM does not start as {refused}: {trouble.text}")
            self._rung += 1
            return 0.0
        self._set("restarting")
        _log.warning("engine lost", rung=refused, reason=trouble.text, after_seconds=round(seconds, 1))
        if trouble.cause == "memory" and seconds < self._patience.settling_seconds and not is_last:
            self._rung += 1
        pause = self._restarts.next_pause()
        if pause is None:
            most, window = self._patience.restarts, self._patience.window_seconds
            raise InfrastructureError(
                f"vLLM was lost more than {most} times within {window:g} s, and is left alone now: {trouble.text}"
            )
        return pause


def _take_port() -> socket.socket:
    """A free port of loopback, kept for a server that sets SO_REUSEADDR, as vLLM does: this socket never listens."""
    kept = socket.socket()
    kept.bind(("127.0.0.1", 0))
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return kept
