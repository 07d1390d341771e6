"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["until"]


def until(happened: Callable[[], bool], seconds: float = 90) -> None:
    """Return as soon as it has happened; AssertionError where it does not in time."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
