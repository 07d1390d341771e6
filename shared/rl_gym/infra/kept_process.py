"""A process of a service's own that is to be there as long as the service is: started again, ended with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

import structlog

from rl_gym.infra.tether import tethered

__all__ = ["KeptProcess"]

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 30.0
_STEADY_SECONDS = 60.0

_log = structlog.get_logger("kept_process")


class KeptProcess:
    """Runs a command, and again with longer and longer pauses should it end.

    It ends with this process however that ends, and has `end_seconds` for it after SIGTERM. `open` is to be called
    from the main thread.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        folder: str | None = None,
        end_seconds: float = 15.0,
    ) -> None:
        self.name = name
        self._command = command
        self._environment = environment
        self._folder = folder
        self._end_seconds = end_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._keeping: asyncio.Task[None] | None = None
        self.restarts = 0

    @property
    def state(self) -> str:
        """Whether it runs, in words."""
        process = self._process
        running = process is not None and process.returncode is None
        again = f", started again {self.restarts} times" if self.restarts else ""
        return f"{'running' if running else 'not running'}{again}"

    async def open(self) -> None:
        """Begin; it comes up meanwhile."""
        self._keeping = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """End it, and wait until it has ended."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), self._end_seconds)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _keep(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            started = time.monotonic()
            try:
                # A session of its own: Ctrl-C at a terminal is for this service, which then ends it in good order.
                self._process = await asyncio.create_subprocess_exec(
                    *tethered(self._command),
                    cwd=self._folder,
                    env=self._environment,
                    stdin=asyncio.subprocess.DEVNULL,
                    start_new_session=True,
                )
                status: int | str = await self._process.wait()
            except OSError as error:
                status = str(error)
            pause = _FIRST_PAUSE_SECONDS if time.monotonic() - started > _STEADY_SECONDS else pause
            _log.error("a process ended: it is started again", name=self.name, status=status, pause_seconds=pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            self.restarts += 1
