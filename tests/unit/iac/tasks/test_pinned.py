"""What the generator makes for published numbers stays what it was, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from rl_gym.gym.core import Episode, content_hash
from rl_gym.iac.tasks.parametric import floor, make_episode, nano_episode, oracle, render

_PINNED = {
    "train": "e5053b346053",
    "synthetic": "9ed4daedc71f",
    "nano": "6f76ee507176",
}


def _made(episodes: Iterable[Episode]) -> Iterator[object]:
    for place, episode in enumerate(episodes):
        yield [episode.to_dict(), oracle(episode), floor(episode), render(episode, 0.5, Random(place))]


def test_episodes_and_their_answers_under_seed18_are_what_they_were() -> None:
    made = {
        "train": [make_episode(seed) for seed in range(400)],
        "synthetic": [make_episode(seed, "synthetic") for seed in range(200)],
        "nano": [nano_episode(seed) for seed in range(100)],
    }
    assert {name: content_hash(list(_made(episodes)))[:12] for name, episodes in made.items()} == _PINNED
