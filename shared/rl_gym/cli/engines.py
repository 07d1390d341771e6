"""Models for tables, by what a person calls them: packaged ones and folders in this process, others at an address."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from rl_gym.iac.anchors import ANCHORS
from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rl_gym.gym.core import Environment, Episode
    from rl_gym.serving.columns import EnginePlace
    from rl_gym.serving.cost import Prices
    from rl_gym.serving.tables.asking import Entrant

__all__ = [
    "KEY",
    "Anchor",
    "CompletionMillion",
    "GpuHour",
    "Limit",
    "MaxTokens",
    "ProfileName",
    "PromptMillion",
    "RulesetName",
    "Url",
    "chosen_episodes",
    "entrants",
    "prices_of",
]

KEY = "RL_GYM_ENGINE_KEY"
"""The environment variable with the key of the address: an argument would stand in the list of processes."""

_HERE = ""
_MOST_MODELS = 16
_SECONDS = 600.0

Url = Annotated[
    str | None,
    typer.Option("--url", help=f"OpenAI-compatible address of the models; its key is read from {KEY}."),
]
GpuHour = Annotated[float, typer.Option("--gpu-hour", help="US dollars an hour of the engine's GPU.")]
PromptMillion = Annotated[float, typer.Option("--prompt-million", help="US dollars a million prompt tokens.")]
CompletionMillion = Annotated[
    float, typer.Option("--completion-million", help="US dollars a million completion tokens.")
]
Anchor = Annotated[str, typer.Option("--anchor", help="dev, synthetic or holdout.")]
RulesetName = Annotated[str, typer.Option("--ruleset", help="What is asked for.")]
ProfileName = Annotated[str, typer.Option("--profile", help="How it is rewarded.")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", min=1, max=16_384, help="Of one answer.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="So many episodes alone, spread over the anchor.")]


def prices_of(gpu_hour: float, prompt_million: float, completion_million: float) -> Prices:
    """Raises UsageError for what is no price, and for both kinds at once."""
    from rl_gym.serving.cost import Prices

    named = {"--gpu-hour": gpu_hour, "--prompt-million": prompt_million, "--completion-million": completion_million}
    for option, price in named.items():
        if not (math.isfinite(price) and price >= 0):
            raise UsageError(f"{option} takes 0 or more US dollars, not {price}")
    return Prices(gpu_hour, prompt_million, completion_million)


def chosen_episodes(env: Environment, anchor: str, limit: int | None) -> Sequence[Episode]:
    """The episodes of an anchor, or so many, spread evenly over it: it may begin with its easy ones.

    Raises UsageError for an anchor that there is not, NotFoundError for one that is not to be had.
    """
    if anchor not in ANCHORS:
        raise UsageError(f"--anchor takes {', '.join(ANCHORS)}, not {anchor!r}")
    episodes = env.episodes(anchor)
    if limit is None or limit >= len(episodes):
        return episodes
    return [episodes[number * len(episodes) // limit] for number in range(limit)]


@asynccontextmanager
async def entrants(names: str, url: str | None, prices: Prices) -> AsyncIterator[list[Entrant]]:
    """The models of a list with commas, ready to be asked; closed at the end.

    With `url` they are names there; NAME@URL is a model at an address of its own. Any other is a source of
    weights, which run in this process. Raises UsageError and NotFoundError for names that are none.
    """
    asked = [name.strip() for name in names.split(",")]
    if not all(asked):
        raise UsageError(f"an empty name stands among the models: {names!r}")
    if len(asked) > _MOST_MODELS:
        raise UsageError(f"{len(asked)} models; at most {_MOST_MODELS} are compared at a time")
    places: dict[str, EnginePlace] = {}
    try:
        yield [await _entrant(name, number, url, prices, places) for number, name in enumerate(asked)]
    finally:
        await asyncio.gather(*(place.backend.close() for place in places.values()))


async def _entrant(name: str, number: int, url: str | None, prices: Prices, places: dict[str, EnginePlace]) -> Entrant:
    model, at, own = name.partition("@http")
    address = f"http{own}" if at else url
    if address is None:
        return await _local(name, number, prices, places)
    return _entrant_of(name, model, "", prices, _remote(address, places))


def _remote(address: str, places: dict[str, EnginePlace]) -> EnginePlace:
    from rl_gym.infra.boundary import is_inside
    from rl_gym.infra.extras import extra
    from rl_gym.infra.settings import load_settings
    from rl_gym.serving.columns import EnginePlace

    with extra("services"):
        from stamina.instrumentation import set_on_retry_hooks

        from rl_gym.serving.backends.openai import OpenAIBackend
    # Else every retry is a line on stdout, in the middle of the table.
    set_on_retry_hooks([])
    if load_settings().boundary == "closed" and not is_inside(address):
        raise UsageError(f"{address} lies outside of the deployment, whose boundary is closed (RL_GYM_BOUNDARY)")
    if address not in places:
        places[address] = EnginePlace(OpenAIBackend(address, api_key=os.environ.get(KEY, ""), seconds=_SECONDS))
    return places[address]


async def _local(name: str, number: int, prices: Prices, places: dict[str, EnginePlace]) -> Entrant:
    from rl_gym.infra.digests import tree_digest
    from rl_gym.infra.extras import extra
    from rl_gym.serving.columns import EnginePlace
    from rl_gym.serving.weights import find_model, parse_source

    folder = find_model(name)
    with extra("serve"):
        from rl_gym.serving.backends.transformers import TransformersBackend
    if _HERE not in places:
        places[_HERE] = EnginePlace(TransformersBackend())
    host = places[_HERE].backend
    assert isinstance(host, TransformersBackend)
    # A folder's path is no name that a message may carry.
    called = name if parse_source(name).kind == "packaged" else f"model-{number}"
    await host.load(called, folder)
    return _entrant_of(name, called, tree_digest(folder), prices, places[_HERE])


def _entrant_of(name: str, called: str, digest: str, prices: Prices, place: EnginePlace) -> Entrant:
    from pydantic import ValidationError

    from rl_gym.serving.columns import Column
    from rl_gym.serving.tables.asking import Entrant
    from rl_gym.wire import ServedModel

    try:
        served = ServedModel(engine=place.backend.engine, name=called, base=called)
    except ValidationError:
        raise UsageError(f"{called!r} is no name that a model can have") from None
    return Entrant(name, Column("base", place, served, prices), digest)
