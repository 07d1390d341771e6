"""Who judges completions: the verifier service over HTTP, or the environment in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from rl_gym.gym.core import Environment, Episode
from rl_gym.iac.standard import Standard
from rl_gym.wire import Fixed, Scorecard

__all__ = ["Judge", "LocalJudge", "Standard", "environment"]


class Judge(Protocol):
    """Judges completions of one episode, in order. A fault raises InfrastructureError and is never a reward of 0."""

    async def score(self, standard: Standard, episode: Episode, completions: Sequence[str]) -> list[Scorecard]: ...

    async def fix(self, standard: Standard, episode: Episode, completion: str) -> Fixed | None:
        """What the fixers make of a completion, None where they change nothing."""
        ...


class LocalJudge:
    """Judges in this process, in a thread: for what a person runs on a machine of their own.

    A service asks the verifier instead: there a text that hangs or balloons costs its own answer alone.
    """

    async def score(self, standard: Standard, episode: Episode, completions: Sequence[str]) -> list[Scorecard]:
        env = environment(standard)
        return await asyncio.to_thread(lambda: [Scorecard.of(env, episode, text) for text in completions])

    async def fix(self, standard: Standard, episode: Episode, completion: str) -> Fixed | None:
        return await asyncio.to_thread(Fixed.of, environment(standard), episode, completion)


@lru_cache(maxsize=16)
def environment(standard: Standard) -> Environment:
    """The environment under a standard; raises as `Standard.make` does."""
    return standard.make()
