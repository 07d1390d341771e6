"""What the service knows of an engine that runs beside it: where it is, how it is, and when it came up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

__all__ = ["Engine", "EngineState", "FlagValue", "OnUp", "Status"]

FlagValue = str | int | float | bool

Status = Literal["starting", "ready", "restarting", "draining", "failed"]

OnUp = Callable[[], Awaitable[None]]
"""Awaited each time that the engine came up, before it is called ready: what it has to hold is loaded there."""


@dataclass(frozen=True, slots=True)
class EngineState:
    """How an engine is now.

    `flags` are those that it runs with, by the engine's own names, and `rung` names their place on the ladder; both are
    empty where it does not run or was not started by us. `trouble` is the last thing that went wrong, or why a faster
    rung was refused, in one line; it stays when that is over.
    """

    status: Status
    flags: Mapping[str, FlagValue] = field(default_factory=dict)
    rung: str = ""
    restarts: int = 0
    trouble: str = ""


class Engine(Protocol):
    """An OpenAI-compatible server beside the service. One call of `open`, then one of `close`, in one event loop."""

    address: str
    """Base URL for an OpenAI client, `/v1` included; the same as long as the service lives."""
    api_key: str
    """What such a client has to show."""
    on_up: OnUp

    def state(self) -> EngineState: ...

    async def open(self) -> None:
        """Begin; the engine comes up meanwhile."""
        ...

    async def ready(self) -> None:
        """Wait until it answers. Raises InfrastructureError, with what to do, once it failed for good."""
        ...

    async def close(self) -> None:
        """Let it finish what it is at, then end it; no process is left."""
        ...
