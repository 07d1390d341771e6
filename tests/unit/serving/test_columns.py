"""A column asks its engine for its model, and believes no other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from rl_gym.infra.errors import InfrastructureError
from rl_gym.serving.backends import Completions, OnText
from rl_gym.serving.backends.scripted import ScriptedBackend
from rl_gym.serving.columns import Column, EnginePlace
from rl_gym.serving.sampling import Sampling
from rl_gym.wire import ServedModel


class Renaming(ScriptedBackend):
    """An engine that answers under another name than the one it was asked for."""

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, *, model: str, on_text: OnText | None = None
    ) -> Completions:
        made = await super().complete(prompts, sampling, model=model, on_text=on_text)
        return Completions(made.samples, made.usage, "another")


def column(backend: ScriptedBackend, digest: str | None = None, name: str = "scripted") -> Column:
    served = ServedModel(engine="scripted", name=name, base="scripted", adapter_digest=digest)
    return Column("tuned", EnginePlace(backend), served)


def complete(asked: Column) -> Completions:
    return asyncio.run(asked.complete(["a prompt"], Sampling(greedy=True)))[0]


def test_another_model_does_not_answer_for_an_adapter() -> None:
    assert complete(column(ScriptedBackend(["x"]), "0" * 64)).samples[0][0].text == "x"
    with pytest.raises(InfrastructureError, match="another answered in the place of scripted"):
        complete(column(Renaming(["x"]), "0" * 64))


def test_a_model_by_an_alias_may_answer_under_its_full_name() -> None:
    assert complete(column(Renaming(["x"]))).model == "another"


def test_a_model_that_the_engine_lost_is_no_mistake_of_the_caller() -> None:
    asked = column(ScriptedBackend(["x"]), name="lost")
    with pytest.raises(InfrastructureError, match="tuned: no model 'lost'"):
        complete(asked)
    assert asked.place.admission.inside == 0
