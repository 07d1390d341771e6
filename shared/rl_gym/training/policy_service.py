"""A policy service as a stage sees it: which models it answers for, and answers to many prompts of one of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rl_gym.infra.errors import UsageError
from rl_gym.infra.extras import extra
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.training.means import Means

if TYPE_CHECKING:
    from rl_gym.serving.backends.policy import PolicyBackend
    from rl_gym.wire import ServedModel

__all__ = ["answers_of", "at_policy", "require_policy", "served_models"]

_AT_ONCE = 4
"""Requests under way: enough that the engine never waits for the next one."""


def require_policy(means: Means, who: str) -> str:
    """The address of the policy service; UsageError, which names who needs it, where there is none."""
    if not means.policy:
        raise UsageError(
            f"{who} asks a policy service, and there is none here: name its address by RL_GYM_POLICY, for a trainer "
            "by RL_GYM_TRAINER_POLICY"
        )
    return means.policy


@asynccontextmanager
async def at_policy(means: Means, who: str) -> AsyncIterator[PolicyBackend]:
    """The service's models, closed at the end; raises as `require_policy`."""
    address = require_policy(means, who)
    with extra("services"):
        from rl_gym.infra.principals import SCOPES, Issuer
        from rl_gym.infra.signing import SigningKey
        from rl_gym.serving.backends.policy import PolicyBackend

    key = means.signing_key
    caller = Issuer(SigningKey.load(key), "trainer", "policy", SCOPES["policy"]) if key else None
    backend = PolicyBackend(address, caller=caller)
    try:
        yield backend
    finally:
        await backend.close()


def served_models(means: Means, who: str) -> list[ServedModel]:
    """What the policy service answers for now, an outside model left out."""

    async def ask() -> list[ServedModel]:
        async with at_policy(means, who) as backend:
            return await backend.served()

    return asyncio.run(ask())


def answers_of(
    means: Means,
    who: str,
    model: str,
    prompts: Sequence[str],
    samplings: Sequence[Sampling],
    *,
    batch_size: int,
    progress: Callable[[int], None] | None = None,
) -> list[list[list[Sample]]]:
    """For each way of sampling the samples of every prompt, in order; a request asks for at most `batch_size` of them.

    `progress(samples)` is told of each request that was answered. Raises as the service's client does.
    """

    async def ask() -> list[list[list[Sample]]]:
        free = asyncio.Semaphore(_AT_ONCE)
        async with at_policy(means, who) as backend:

            async def part(sampling: Sampling, own: Sequence[str]) -> list[list[Sample]]:
                async with free:
                    made = await backend.complete(own, sampling, model=model)
                if progress is not None:
                    progress(len(own) * sampling.n)
                return made.samples

            results = []
            for sampling in samplings:
                width = max(1, batch_size // sampling.n)
                starts = range(0, len(prompts), width)
                parts = await asyncio.gather(*(part(sampling, prompts[start : start + width]) for start in starts))
                results.append([samples for own in parts for samples in own])
            return results

    return asyncio.run(ask())
