"""Aggregated traffic for a flywheel, made by our own generator: `python bench/traffic.py --rows 400 > traffic.jsonl`.

It stands in for what a gateway gathers. Some requests are asked often and most seldom; one in ten is no generated one;
of some the answer is kept, by the model, by an outside model or by the fixers; and a few are those of an anchor, which
a flywheel has to leave out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from random import Random

from rl_gym.gym.core import Episode
from rl_gym.gym.registry import get_env
from rl_gym.iac.tasks.parametric import floor, nano_episode, oracle
from rl_gym.wire.traffic import Author, MixRow

FIRST_SEED = 7_000_000
"""Far from the seeds that tests and presets draw."""

ANCHORED = 3
"""How many requests of the anchor `synthetic` are among it."""

_AUTHORS: Sequence[Author] = ("model", "external", "fixer")


def mix(rows: int, seed: int = 0) -> Iterator[MixRow]:
    """So many rows, the same for the same arguments; the anchor's come last."""
    chance = Random(f"traffic/{seed}")
    for number in range(max(rows - ANCHORED, 0)):
        yield _row(nano_episode(FIRST_SEED + 100_000 * seed + number), chance, number)
    for number, episode in enumerate(get_env("iac").episodes("synthetic")[: min(rows, ANCHORED)]):
        yield _row(episode, chance, rows - ANCHORED + number, named=False)


def _row(episode: Episode, chance: Random, number: int, *, named: bool = True) -> MixRow:
    count = max(1, round(200 / (number + 1)))
    author = chance.choice(_AUTHORS)
    kept = chance.random() < 0.3
    return MixRow(
        environment="iac",
        request=episode.request,
        required=list(episode.data["required"]),
        count=count,
        sources={"model": count, author: count},
        first_reward=round(chance.random(), 3),
        episode=episode.id if named and chance.random() >= 0.1 else None,
        answer=(oracle(episode) if author == "external" else floor(episode)) if kept else None,
        author=author if kept else None,
    )


def main() -> int:
    """Print the rows as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for row in mix(asked.rows, asked.seed):
        sys.stdout.write(row.model_dump_json(exclude_none=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
