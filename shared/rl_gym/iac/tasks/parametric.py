"""The parametric generator: an endless supply of requests whose best answer is known.

An episode's `data` says everything (the drawn parts), so that oracle, floor and every mixture between them are rebuilt
from the episode alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from random import Random

from rl_gym.gym.core import Episode
from rl_gym.iac.rules.registry import SEED18
from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.combinations import MAX_PARTS, combinations
from rl_gym.iac.tasks.hcl_writer import write
from rl_gym.iac.tasks.names import HELD_OUT_PROJECTS, TRAIN_PROJECTS
from rl_gym.iac.tasks.parts import Careful, Hurried, Mixed, Part, Stack, Style
from rl_gym.iac.tasks.requests import word

__all__ = [
    "NANO_CHARACTERS",
    "SEED_RULES",
    "SPLITS",
    "episode_of",
    "fits_nano",
    "floor",
    "make_episode",
    "nano_episode",
    "oracle",
    "render",
    "stack_of",
]

SPLITS = {"train": TRAIN_PROJECTS, "synthetic": HELD_OUT_PROJECTS}
"""The splits that can be generated, each with the project names that only it uses."""

NANO_CHARACTERS = 900
"""The longest oracle, in characters, of an episode for the nano model: about 250 of its tokens."""

_NANO_TRIES = 64
_ID = re.compile(r"parametric-([a-z]+)-(\d)-(\d+)")

SEED_RULES = frozenset(SEED18)
"""The rules of the ruleset seed18."""


def make_episode(seed: int, split: str = "train", *, max_resources: int = MAX_PARTS) -> Episode:
    """The episode of a seed: the same for the same arguments, everywhere.

    `split` is "train" or "synthetic"; their names and their combinations of kinds are disjoint. A stack has 1 to
    `max_resources` asked-for resources (companions not counted). Raises ValueError for another split or size.
    """
    if split not in SPLITS:
        raise ValueError(f"split {split!r} is not generated; choose one of {', '.join(SPLITS)}")
    if not 1 <= max_resources <= MAX_PARTS:
        raise ValueError(f"max_resources must lie between 1 and {MAX_PARTS}, not {max_resources}")
    rng = Random(f"parametric/{split}/{max_resources}/{seed}")
    kinds = list(rng.choice(combinations(rng.randint(1, max_resources), held=split != "train")))
    rng.shuffle(kinds)
    project = rng.choice(SPLITS[split])
    stack = Stack(project, [BUILDERS[kind].draw(project, rng) for kind in kinds])
    return Episode(
        id=f"parametric-{split}-{max_resources}-{seed}",
        request=word(stack, rng),
        source="parametric",
        data={
            "required": [name for part in stack.parts for name in BUILDERS[part.kind].types],
            "project": project,
            "stack": [part.to_dict() for part in stack.parts],
        },
    )


def episode_of(name: str) -> Episode:
    """The episode that `make_episode` gave this id; raises ValueError for an id of another form."""
    match = _ID.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is no parametric episode's id")
    return make_episode(int(match[3]), match[1], max_resources=int(match[2]))


def nano_episode(seed: int, split: str = "train") -> Episode:
    """An episode of one or two resources whose oracle under the seed rules fits `NANO_CHARACTERS`."""
    for attempt in range(_NANO_TRIES):
        episode = make_episode(seed * _NANO_TRIES + attempt, split, max_resources=2)
        if fits_nano(episode):
            return episode
    raise RuntimeError(f"none of {_NANO_TRIES} episodes fits the nano model: seed {seed}, split {split!r}")


def fits_nano(episode: Episode) -> bool:
    """Whether a parametric episode is within the nano model's reach: what `nano_episode` draws."""
    return len(episode.data["stack"]) <= 2 and len(oracle(episode, SEED_RULES)) <= NANO_CHARACTERS


def stack_of(episode: Episode) -> Stack:
    """The drawn parts of a parametric episode."""
    return Stack(episode.data["project"], [Part.from_dict(row) for row in episode.data["stack"]])


def oracle(episode: Episode, rules: Collection[str] = SEED_RULES) -> str:
    """The best answer under a ruleset whose rules are named: each protection that they ask for, and no more."""
    return _build(stack_of(episode), Careful(rules))


def floor(episode: Episode) -> str:
    """A valid answer with no critical slip that protects nothing."""
    stack = stack_of(episode)
    return write(
        block
        for part in stack.parts
        for block in BUILDERS[part.kind].build(part, stack, Hurried(BUILDERS[part.kind].floor_tagged))
    )


def render(
    episode: Episode, secure: float | Mapping[str, float], rng: Random, rules: Collection[str] = SEED_RULES
) -> str:
    """An answer as people write it, between floor and oracle.

    Each protection that `rules` ask for is there with probability `secure`: one for all, or one for each rule that is
    named (1 for the others). Else it is left out, or written insecurely in a way that people do; critical lapses are
    ten times rarer. At 1 it is the oracle.
    """
    return _build(stack_of(episode), Mixed(secure, rng, rules))


def _build(stack: Stack, style: Style) -> str:
    return write(block for part in stack.parts for block in BUILDERS[part.kind].build(part, stack, style))
