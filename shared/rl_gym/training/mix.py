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

__all__ = [
    "PATIENCE",
    "CountTokens",
    "Drawing",
    "Mix",
    "candidates",
    "demonstrations",
    "draw",
    "fitting",
    "held_out",
    "prompt_row",
]

CountTokens = Callable[[str], int]

PATIENCE = 5_000
"""Episodes of a generator in a row of which none is taken, until it is held to have no other.

Drawing them takes seconds, and what one episode in 500 is would be missed once in 20,000 searches.
"""


@dataclass(frozen=True, slots=True)
class Mix:
    """The rows of a run: `sft` has prompt and completion, `grpo` prompt and episode (JSON), `held_out` episodes."""

    sft: list[dict[str, Any]]
    grpo: list[dict[str, Any]]
    held_out: list[dict[str, Any]]


def draw(
    env: Environment,
    config: Config,
    count_tokens: CountTokens,
    focus: Callable[[Episode], bool] | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> Mix:
    """Draw the mix of a run, the same for the same configuration.

    With `focus` training keeps to episodes that it holds of, but for the share `episodes.rehearsal`, which is drawn
    from all. `check` is called before each episode, and may raise, to stop the drawing. Raises UsageError where the
    splits hold too few episodes that fit, or training would see an episode of the anchor.
    """
    section = config.episodes
    asked = held_out(env, config, count_tokens)
    wanted = section.sft + section.grpo
    drawing = Drawing(env, config, check)
    usable = fitting(env, drawing, section, count_tokens)
    if focus is None:
        training = _enough(drawing.take(usable, wanted), wanted, "train")
    else:
        training = _focused(drawing, usable, wanted, config, focus)
    refuse(training, {config.evaluate.anchor: env.episodes(config.evaluate.anchor)})
    for_sft, for_grpo = _shared_out(training, section)
    return Mix(
        sft=[*demonstrations(env, for_sft, config.sft, Random(f"{config.seed}/sft"))],
        grpo=[prompt_row(env, episode) for episode in for_grpo],
        held_out=[episode.to_dict() for episode in asked],
    )


def held_out(env: Environment, config: Config, count_tokens: CountTokens) -> list[Episode]:
    """The episodes of the anchor that a run is measured by; UsageError where too few of them fit."""
    anchor, section = config.evaluate.anchor, config.episodes
    found = islice(fitting(env, env.episodes(anchor), section, count_tokens), section.held_out)
    return _enough(list(found), section.held_out, anchor)


def prompt_row(env: Environment, episode: Episode) -> dict[str, Any]:
    """A row for GRPO: the prompt, and the episode as JSON for whatever judges the answers."""
    return {"prompt": env.prompt(episode), "episode": json.dumps(episode.to_dict())}


def candidates(env: Environment, config: Config) -> Iterator[Episode]:
    """Training episodes in random order; an environment that generates them without end gives as many as are asked."""
    rng = Random(f"{config.seed}/episodes")
    if config.episodes.generated:
        while True:
            yield nano_episode(rng.randrange(1 << 40), "train")
    episodes = list(env.episodes("train"))
    rng.shuffle(episodes)
    yield from episodes


class Drawing:
    """The candidates of a run; `take` takes what a filter over them leaves.

    A generator is given up once PATIENCE of its episodes in a row were not taken. `check` is called before each is
    given, and may raise, to stop the drawing.
    """

    def __init__(self, env: Environment, config: Config, check: Callable[[], None] = lambda: None) -> None:
        self._env = env
        self._config = config
        self._check = check
        self._passed_over = 0

    def __iter__(self) -> Iterator[Episode]:
        for episode in candidates(self._env, self._config):
            self._check()
            if self._config.episodes.generated and self._passed_over == PATIENCE:
                return
            self._passed_over += 1
            yield episode

    def take(self, left: Iterator[Episode], count: int) -> list[Episode]:
        """The next `count` of what is left, or fewer where there are no more."""
        taken = []
        for episode in islice(left, count):
            self._passed_over = 0
            taken.append(episode)
        return taken


def fitting(
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


def _enough(taken: list[Episode], count: int, split: str) -> list[Episode]:
    if len(taken) < count:
        raise UsageError(
            f"split {split!r} has {len(taken)} episodes that fit this preset's bounds, {count} are asked for: "
            "ask for fewer, or raise episodes.max_resources or episodes.max_tokens"
        )
    return taken


def _focused(
    drawing: Drawing, usable: Iterator[Episode], wanted: int, config: Config, focus: Callable[[Episode], bool]
) -> list[Episode]:
    rehearsed = round(wanted * config.episodes.rehearsal)
    training = _enough(drawing.take(usable, rehearsed), rehearsed, "train")
    touched = drawing.take(filter(focus, usable), wanted - rehearsed)
    if len(touched) < wanted - rehearsed:
        raise UsageError(
            f"split 'train' has {len(touched)} episodes that fit this preset's bounds and whose best answer under the "
            f"rules before is no longer perfect, {wanted - rehearsed} are asked for: the new rules touch "
            f"{'too little' if touched else 'nothing'} of what training asks, so name others by drift.before and "
            "environment.options.ruleset, or ask for fewer"
        )
    training += touched
    Random(f"{config.seed}/rehearsal").shuffle(training)
    return training


def _shared_out(episodes: Sequence[Episode], section: EpisodesSection) -> tuple[list[Episode], list[Episode]]:
    """Episodes for SFT and for GRPO, in their order; those without an answer that teaches are for GRPO alone."""
    teaching = [episode for episode in episodes if not episode.data.get("training_only")]
    if len(teaching) < section.sft:
        raise UsageError(
            f"{len(teaching)} of {len(episodes)} training episodes have an answer to learn from, and SFT is to draw "
            f"{section.sft}: ask for fewer by episodes.sft, or for more by episodes.grpo"
        )
    for_sft = teaching[: section.sft]
    chosen = {episode.hash for episode in for_sft}
    return for_sft, [episode for episode in episodes if episode.hash not in chosen]


def demonstrations(
    env: Environment, episodes: Sequence[Episode], section: SftSection, rng: Random
) -> Iterator[dict[str, Any]]:
    """The oracle's answers, and among them answers as people write them, where the episode can be written so."""
    for episode in episodes:
        realistic = episode.source == "parametric" and rng.random() >= section.oracle_share
        answer = render(episode, section.secure, rng) if realistic else env.oracle(episode)
        yield {"prompt": env.prompt(episode), "completion": answer, "episode_id": episode.id}
