"""Clients that do not wait."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a client meant to wait; it does not."""
    calls = pytest.importorskip("rl_gym.wire.clients.calls", reason="the extra services is not installed")
    waited: list[float] = []

    async def no_sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(calls.time, "sleep", waited.append)
    monkeypatch.setattr(calls.asyncio, "sleep", no_sleep)
    return waited
