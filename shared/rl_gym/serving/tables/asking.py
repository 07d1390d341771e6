"""Asking a model many prompts: how many at a time, what came of each, and what all of it took."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rl_gym.serving.backends import Completions, PromptTooLongError
from rl_gym.serving.columns import Column
from rl_gym.serving.sampling import Sampling

__all__ = ["AT_ONCE", "Asked", "Entrant", "ask", "each"]

AT_ONCE = 16
"""How many prompts a table has under way: enough for an engine to batch, few enough for none to wait long."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Entrant:
    """A model under the name that tables give it; `digest` is that of its weights, where they lie here."""

    name: str
    column: Column
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt's samples and their share of the engine's busy seconds; None where it leaves no room for an answer."""

    made: Completions | None
    gpu_seconds: float = 0.0


async def ask(column: Column, prompt: str, sampling: Sampling) -> Asked:
    """Raises as the engine does, except for a prompt that is too long."""
    try:
        return Asked(*await column.complete([prompt], sampling))
    except PromptTooLongError:
        return Asked(None)


async def each(
    items: Sequence[T],
    work: Callable[[int, T], Awaitable[R]],
    *,
    at_once: int = AT_ONCE,
    progress: Callable[[int, int], None] | None = None,
) -> list[R]:
    """`work(number, item)` for every item, at most `at_once` at a time, in the order of the items.

    `progress(done, total)` counts. The first failure ends what else is under way, and is raised.
    """
    free = asyncio.Semaphore(at_once)
    done = 0

    async def one(number: int, item: T) -> R:
        nonlocal done
        async with free:
            result = await work(number, item)
        done += 1
        if progress is not None:
            progress(done, len(items))
        return result

    tasks = [asyncio.ensure_future(one(number, item)) for number, item in enumerate(items)]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
