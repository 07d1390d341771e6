"""Samples and judgements that stand already, given to the served loop again: so one set of samples serves all modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rl_gym.gym.core import Episode
from rl_gym.serving.backends import Completions, OnText, PromptTooLongError
from rl_gym.serving.columns import Column, EnginePlace
from rl_gym.serving.cost import EngineClock
from rl_gym.serving.judges import Judge, Standard
from rl_gym.serving.sampling import Sampling
from rl_gym.serving.tables.asking import Asked, ask
from rl_gym.wire import Fixed, Scorecard

__all__ = ["AskedOnce", "JudgedOnce", "replaying"]


class AskedOnce:
    """A column that is asked each prompt once; who asks again is given the same answer, with what it took."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self._known: dict[tuple[str, Sampling], Asked] = {}

    async def ask(self, prompt: str, sampling: Sampling) -> Asked:
        """Raises as the engine does, and then remembers nothing."""
        key = prompt, sampling
        if key not in self._known:
            self._known[key] = await ask(self.column, prompt, sampling)
        return self._known[key]


class JudgedOnce:
    """A judge of one episode's completions that judges each text once."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._known: dict[str, Scorecard] = {}

    async def score(self, standard: Standard, episode: Episode, completions: Sequence[str]) -> list[Scorecard]:
        new = [text for text in dict.fromkeys(completions) if text not in self._known]
        if new:
            self._known.update(zip(new, await self._judge.score(standard, episode, new), strict=True))
        return [self._known[text] for text in completions]

    async def fix(self, standard: Standard, episode: Episode, completion: str) -> Fixed | None:
        return await self._judge.fix(standard, episode, completion)


def replaying(engine: AskedOnce, prompt: str, first: Asked) -> Column:
    """The engine's column, but for `prompt`, to which `first` is the answer: what it took counts as if just asked."""
    backend = _Replay(engine, prompt, first)
    return replace(engine.column, place=EnginePlace(backend, clock=EngineClock(lambda: backend.seconds)))


class _Replay:
    """The engine behind `replaying`. Its clock runs by what answers took when they were made."""

    def __init__(self, engine: AskedOnce, prompt: str, first: Asked) -> None:
        self._asked = engine
        self._prompt, self._first = prompt, first
        self.engine = engine.column.place.backend.engine
        self.seconds = 0.0

    def deterministic(self, sampling: Sampling) -> bool:
        return self._asked.column.deterministic(sampling)

    async def models(self) -> list[str]:
        return [self._asked.column.served.name]

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, *, model: str, on_text: OnText | None = None
    ) -> Completions:
        [prompt] = prompts
        asked = self._first if prompt == self._prompt else await self._asked.ask(prompt, sampling)
        if asked.made is None:
            raise PromptTooLongError(f"{model}: the prompt leaves no room for an answer")
        self.seconds += asked.gpu_seconds
        return asked.made

    async def close(self) -> None:
        return None
