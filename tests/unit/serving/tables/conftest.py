"""A tiny engine whose answers a test writes, and episodes with an answer that is perfect and one that is bare."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from rl_gym.gym.core import Episode
from rl_gym.iac.environment import IacEnvironment, make
from rl_gym.infra.errors import RlGymError
from rl_gym.serving.backends import Completions, OnText
from rl_gym.serving.columns import Column, EnginePlace
from rl_gym.serving.cost import Prices
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.serving.tables.asking import Entrant
from rl_gym.wire import ServedModel, Usage

Say = Callable[[str, int, Sampling], str | RlGymError]
"""What to answer: prompt, number of the sample, how it is sampled."""


class Told:
    """An engine that answers what `say` says; a token is ten characters, an answer takes a second."""

    engine = "told"

    def __init__(self, say: Say) -> None:
        self._say = say
        self.asked: list[tuple[str, Sampling]] = []

    def deterministic(self, sampling: Sampling) -> bool:
        return True

    async def models(self) -> list[str]:
        return ["m"]

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, *, model: str, on_text: OnText | None = None
    ) -> Completions:
        [prompt] = prompts
        self.asked.append((prompt, sampling))
        said = [self._say(prompt, number, sampling) for number in range(sampling.n)]
        for text in said:
            if isinstance(text, RlGymError):
                raise text
        samples = [Sample(str(text), len(str(text)) // 10, "stop") for text in said]
        tokens = sum(sample.tokens for sample in samples)
        return Completions([samples], Usage(prompt_tokens=100, completion_tokens=tokens, seconds=1), model)

    async def close(self) -> None:
        return None


@pytest.fixture(scope="session")
def env() -> IacEnvironment:
    return make()


@pytest.fixture(scope="session")
def episodes(env: IacEnvironment) -> Sequence[Episode]:
    """Six episodes whose bare answer earns something, but not all."""
    found = [e for e in env.episodes("synthetic")[:60] if 0 < _bare(env, e) < 1]
    return found[:6]


def _bare(env: IacEnvironment, episode: Episode) -> float:
    action = env.parse(env.random(episode), episode)
    return env.reward.score(action, episode).reward


@pytest.fixture
def entrant() -> Callable[..., Entrant]:
    """A model of an engine of the test's own."""

    def build(name: str, backend: Told, prices: Prices | None = None) -> Entrant:
        served = ServedModel(engine="told", name="m", base="m")
        return Entrant(name, Column("base", EnginePlace(backend), served, prices or Prices()), digest="d" * 12)

    return build


@pytest.fixture
def told() -> type[Told]:
    return Told
