"""The splits of the environment: three frozen anchors, and a training split that shares nothing with them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from rl_gym.gym.core import Episode
from rl_gym.gym.splits import FrozenSplit, read_frozen, verify
from rl_gym.iac import corpora, datasets
from rl_gym.iac.tasks.parametric import episode_of, make_episode
from rl_gym.infra.errors import NotFoundError, UsageError

__all__ = ["ANCHORS", "PARAMETRIC", "SOURCES", "anchor", "at_hand", "excluded", "frozen", "train"]

log = logging.getLogger(__name__)

ANCHORS = ("dev", "holdout", "synthetic")
"""`dev`: 120 of IaC-Eval. `holdout`: requests made from Checkov's configurations. `synthetic`: 240 parametric ones."""

SOURCES = ("parametric", "iac_eval", "module")
"""Where training episodes come from."""

PARAMETRIC = 5_000
"""How many parametric episodes the training split holds: seeds 0 and up."""


_CORPUS = {"dev": "iac_eval", "holdout": "checkov"}


def at_hand(name: str, folder: Path | None) -> bool:
    """Whether an anchor's episodes can be had without a network."""
    return name not in _CORPUS or corpora.at_hand(folder, datasets.FILES[_CORPUS[name]])


@cache
def frozen(name: str) -> FrozenSplit:
    """The committed hashes of an anchor."""
    return read_frozen(files("rl_gym.iac") / "splits" / f"{name}.txt", name)


@cache
def excluded() -> frozenset[str]:
    """Hashes of the corpora's episodes that are too close to an anchor to be trained on; `freeze` says how close."""
    return frozenset(read_frozen(files("rl_gym.iac") / "splits" / "excluded.txt", "excluded").episodes)


def anchor(name: str, folder: Path | None) -> list[Episode]:
    """The episodes of an anchor, in the order in which they were frozen.

    `folder` holds the corpora. Raises NotFoundError where a corpus is missing, UsageError where what it holds is not
    what was frozen.
    """
    split = frozen(name)
    if name == "synthetic":
        found = {episode.hash: episode for episode in map(episode_of, split.episodes.values())}
    else:
        corpus = {"dev": datasets.iac_eval, "holdout": datasets.checkov}[name](folder)
        found = {e.hash: e for e in corpus.episodes if e.hash in split.episodes}
    verify(split, found.values())
    return [found[identity] for identity in split.episodes]


def train(folder: Path | None, sources: Sequence[str] | None = None, parametric: int = PARAMETRIC) -> list[Episode]:
    """The training split: parametric episodes, then the corpora's that neither are an anchor's nor come close to one.

    With `sources` named, each must be there. Without, the corpora that are not on this machine are left out, which the
    log says: nothing is fetched for training unless it was asked for.
    """
    unknown = set(sources or ()) - set(SOURCES)
    if unknown:
        raise UsageError(f"there is no training source {sorted(unknown)[0]!r}: choose among {', '.join(SOURCES)}")
    readers: Mapping[str, Callable[[], Iterable[Episode]]] = {
        "parametric": lambda: map(make_episode, range(parametric)),
        "iac_eval": lambda: datasets.iac_eval(folder, fetch=sources is not None).episodes,
        "module": lambda: datasets.modules(folder).episodes,
    }
    episodes: list[Episode] = []
    for source in sources or SOURCES:
        try:
            episodes += readers[source]()
        except NotFoundError as error:
            if sources is not None:
                raise
            log.warning("the training split goes without %s: %s", source, error)
    kept_out = excluded() | set(frozen("dev").episodes)
    return list({e.hash: e for e in episodes if e.hash not in kept_out}.values())
