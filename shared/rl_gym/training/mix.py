"""What training sees: episodes that fit the model, demonstrations for SFT, prompts for GRPO, and never an anchor's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

from rl_gym.gym.core import Environment, Episode
from rl_gym.gym.splits import refuse
from rl_gym.iac.tasks.parametric import nano_episode, render
from rl_gym.infra.errors import UsageError
from rl_gym.training.config import Config, EpisodesSection, SftSection

__all__ = ["Mix", "draw"]

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Mix:
    """The rows of a run: `sft` has prompt and completion, `grpo` prompt and episode (JSON), `held_out` episodes."""

    sft: list[dict[str, Any]]
    grpo: list[dict[str, Any]]
    held_out: list[dict[str, Any]]


def draw(env: Environment, config: Config, count_tokens: CountTokens) -> Mix:
    """Draw the mix of a run, the same for the same configuration.

    Raises UsageError where the splits hold too few episodes that fit, or training would see an episode of the anchor.
    """
    section = config.episodes
    anchor = list(env.episodes(config.evaluate.anchor))
    held_out = _take(_fitting(env, anchor, section, count_tokens), section.held_out, config.evaluate.anchor)
    wanted = section.sft + section.grpo
    training = _take(_fitting(env, _candidates(env, config), section, count_tokens), wanted, "train")
    refuse(training, {config.evaluate.anchor: anchor})
    for_sft, for_grpo = training[: section.sft], training[section.sft :]
    return Mix(
        sft=[*_demonstrations(env, for_sft, config.sft, Random(f"{config.seed}/sft"))],
        grpo=[{"prompt": env.prompt(episode), "episode": json.dumps(episode.to_dict())} for episode in for_grpo],
        held_out=[episode.to_dict() for episode in held_out],
    )


def _candidates(env: Environment, config: Config) -> Iterator[Episode]:
    """Training episodes in random order; an environment that generates them without end gives as many as are asked."""
    rng = Random(f"{config.seed}/episodes")
    if config.episodes.generated:
        while True:
            yield nano_episode(rng.randrange(1 << 40), "train")
    episodes = list(env.episodes("train"))
    rng.shuffle(episodes)
    yield from episodes


def _fitting(
    env: Environment, episodes: Iterable[Episode], section: EpisodesSection, count_tokens: CountTokens
) -> Iterator[Episode]:
    """Those that a model with these bounds can read and answer in full, each once."""
    seen: set[str] = set()
    for episode in episodes:
        if (
            episode.hash not in seen
            and len(episode.data.get("required", ())) <= section.max_resources
            and count_tokens(env.prompt(episode)) <= section.max_prompt_tokens
            and count_tokens(env.oracle(episode)) < section.max_tokens
        ):
            seen.add(episode.hash)
            yield episode


def _take(episodes: Iterator[Episode], count: int, split: str) -> list[Episode]:
    taken = list(islice(episodes, count))
    if len(taken) < count:
        raise UsageError(
            f"split {split!r} has {len(taken)} episodes that fit this preset's bounds, {count} are asked for: "
            "ask for fewer, or raise episodes.max_resources or episodes.max_tokens"
        )
    return taken


def _demonstrations(
    env: Environment, episodes: Sequence[Episode], section: SftSection, rng: Random
) -> Iterator[dict[str, Any]]:
    """The oracle's answers, and among them answers as people write them, where the episode can be written so."""
    for episode in episodes:
        realistic = episode.source == "parametric" and rng.random() >= section.oracle_share
        answer = render(episode, section.secure, rng) if realistic else env.oracle(episode)
        yield {"prompt": env.prompt(episode), "completion": answer, "episode_id": episode.id}
