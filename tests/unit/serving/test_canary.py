"""The canary passes a model that answers otherwise than its base, in time and under its own name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from rl_gym.gym.registry import get_env
from rl_gym.infra.errors import InfrastructureError, NotFoundError
from rl_gym.serving.backends import Completions
from rl_gym.serving.backends.scripted import Asked, ScriptedBackend
from rl_gym.serving.canary import Canary

CANARY = Canary(("one", "two"), max_tokens=8)
NAMES = ("base", "tuned", "noop", "stuck")


async def script(asked: Asked) -> str:
    if asked.model == "stuck":
        await asyncio.Event().wait()
    return "other" if (asked.model, asked.prompt) == ("tuned", "two") else "same"


class Misnaming(ScriptedBackend):
    """Answers for whatever is asked by the base."""

    async def complete(self, *arguments: Any, **options: Any) -> Completions:
        return replace(await super().complete(*arguments, **options), model="base")


def check(name: str, canary: Canary = CANARY, kind: type[ScriptedBackend] = ScriptedBackend) -> None:
    asyncio.run(canary.check(kind(script, models=NAMES), name, "base"))


def test_one_answer_that_differs_is_enough() -> None:
    check("tuned")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("noop", "answered as base answers it, word for word"), ("stuck", r"was not answered within 0\.05 s")],
)
def test_a_model_that_does_nothing_does_not_pass(name: str, reason: str) -> None:
    with pytest.raises(InfrastructureError, match=f"the canary of {name} .*{reason}"):
        check(name, replace(CANARY, seconds=0.05))


def test_an_answer_of_another_model_does_not_pass() -> None:
    with pytest.raises(InfrastructureError, match="the canary of tuned was answered by base"):
        check("tuned", kind=Misnaming)


def test_what_the_engine_refuses_is_raised() -> None:
    with pytest.raises(NotFoundError):
        check("nowhere")


@pytest.mark.parametrize("name", ["iac", "countdown"])
def test_its_prompts_are_the_environments_own_and_always_the_same(name: str) -> None:
    env = get_env(name)
    canary = Canary.of(env, seconds=1)
    assert (canary.prompts, canary.seconds) == (Canary.of(get_env(name)).prompts, 1)
    assert len(set(canary.prompts)) == 4
    split = "synthetic" if name == "iac" else "dev"
    assert set(canary.prompts) <= {env.prompt(episode) for episode in env.episodes(split)}
