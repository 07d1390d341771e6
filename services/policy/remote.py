"""An engine that somebody else runs, and bills: nothing is asked of it but what requests ask."""

from __future__ import annotations

from services.policy.supervision import EngineState, OnUp

__all__ = ["RemoteEngine"]


class RemoteEngine:
    """An Engine that is taken to be up: a probe may cost money, and a request tells as much."""

    api_key = ""

    def __init__(self, address: str) -> None:
        self.address = address
        self.on_up: OnUp = _nothing

    def state(self) -> EngineState:
        return EngineState(status="ready")

    async def open(self) -> None:
        return None

    async def ready(self) -> None:
        return None

    async def close(self) -> None:
        return None


async def _nothing() -> None:
    return None
