"""The canary: whether a model that was just loaded answers, under its own name, and otherwise than its base."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rl_gym.gym.core import Environment
from rl_gym.infra.errors import InfrastructureError
from rl_gym.serving.backends import ModelBackend
from rl_gym.serving.sampling import Sampling

__all__ = ["Canary"]

_PROMPTS = 4
_SPLITS = ("synthetic", "dev", "train")


@dataclass(frozen=True, slots=True)
class Canary:
    """A few prompts, answered greedily; a model that answers all of them as its base does was trained in vain, or is
    not in use at all.
    """

    prompts: Sequence[str]
    max_tokens: int = 128
    seconds: float = 60.0

    @classmethod
    def of(cls, env: Environment, **options: Any) -> Canary:
        """Prompts of the shorter half of one of an environment's splits: they fit, and are the same ones each time."""
        known = getattr(env, "splits", ("train",))
        split = next(name for name in _SPLITS if name in known)
        prompts = {env.prompt(episode) for episode in env.episodes(split)}
        ordered = sorted(prompts, key=lambda prompt: (len(prompt), prompt))
        step = max(1, len(ordered) // 2 // _PROMPTS)
        return cls(ordered[::step][:_PROMPTS], **options)

    async def check(self, backend: ModelBackend, name: str, base: str) -> None:
        """Raises InfrastructureError, or as the engine does, where model `name` does not pass beside `base`."""
        try:
            async with asyncio.timeout(self.seconds):
                told, by_base = await self._answers(backend, name), await self._answers(backend, base)
        except TimeoutError:
            raise InfrastructureError(f"the canary of {name} was not answered within {self.seconds:g} s") from None
        if told == by_base:
            raise InfrastructureError(f"the canary of {name} was answered as {base} answers it, word for word")

    async def _answers(self, backend: ModelBackend, model: str) -> list[str]:
        made = await backend.complete(self.prompts, Sampling(greedy=True, max_tokens=self.max_tokens), model=model)
        if made.model != model:
            raise InfrastructureError(f"the canary of {model} was answered by {made.model}")
        return [samples[0].text for samples in made.samples]
