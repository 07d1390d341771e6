"""The engines that a scan may ask beside the rules: each in threads, since each waits for processes of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rl_gym.iac.engines import ENGINES, EngineReport, get_engine
from rl_gym.infra.errors import UsageError

__all__ = ["ScanEngines"]

_HEALTH_HOLDS_SECONDS = 30
_HEALTH_WAITS_SECONDS = 1


class ScanEngines:
    """Those of `allowed`, and `builtin`: the rules themselves, which always judge, and are asked elsewhere.

    Raises UsageError for what is no engine.
    """

    def __init__(self, allowed: Sequence[str]) -> None:
        for name in allowed:
            if name not in ENGINES:
                raise UsageError(f"RL_GYM_VERIFIER_ENGINES: {name!r} is no engine: choose among {', '.join(ENGINES)}")
        self._others = tuple(dict.fromkeys(name for name in allowed if name != "builtin"))
        self._names = ("builtin", *self._others)
        self._health: dict[str, Any] = {name: {"status": "asked"} for name in self._others}
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    def check(self, names: Sequence[str]) -> None:
        """Raises UsageError for an engine that may not be asked for."""
        for name in names:
            if name not in self._names:
                raise UsageError(f"engine {name!r} is not here: choose among {', '.join(self._names)}")

    async def scan(
        self, names: Sequence[str], files: Mapping[str, str], variables: Mapping[str, Any]
    ) -> list[EngineReport]:
        """What those of `names` beside `builtin` say, in order; each bounds its own time."""
        others = [name for name in names if name in self._others]
        return await asyncio.gather(*(asyncio.to_thread(get_engine(name).scan, files, variables) for name in others))

    async def health(self) -> dict[str, Any]:
        """How each engine is, as it said in the last half minute; one that takes its time to tell is not waited for."""
        stale = time.monotonic() - self._asked_at > _HEALTH_HOLDS_SECONDS
        if self._others and stale and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._ask())
            await asyncio.wait({self._asking}, timeout=_HEALTH_WAITS_SECONDS)
        return {"builtin": {"status": "answered"}, **self._health}

    async def _ask(self) -> None:
        said = await asyncio.gather(*(asyncio.to_thread(get_engine(name).health) for name in self._others))
        self._health = {
            one.engine: {"status": one.status, "version": one.version, "detail": one.detail} for one in said
        }
        self._asked_at = time.monotonic()

    async def close(self) -> None:
        """Stop what the engines started."""
        await asyncio.gather(*(asyncio.to_thread(get_engine(name).close) for name in self._others))
