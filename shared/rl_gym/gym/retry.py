"""Second chances for our own faults, and only for those."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from rl_gym.infra.errors import InfrastructureError

__all__ = ["attempt"]

T = TypeVar("T")


def attempt(call: Callable[[], T], retries: int = 2, pause: float = 0.1) -> T | InfrastructureError:
    """The result of `call()`, tried up to 1 + `retries` times while it raises InfrastructureError; then that error.

    Between tries it waits `pause` seconds, doubled each time. Every other exception passes through at once.
    """
    for number in range(retries):
        try:
            return call()
        except InfrastructureError:
            time.sleep(pause * 2**number)
    try:
        return call()
    except InfrastructureError as error:
        return error
