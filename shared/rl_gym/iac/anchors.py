"""The splits of the environment: three frozen anchors, what was mined and held out, and a training split that shares
nothing with them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

from rl_gym.gym.core import Episode
from rl_gym.gym.splits import FrozenSplit, read_frozen, verify
from rl_gym.iac import corpora, datasets
from rl_gym.iac.mined import REPORT, MinedFolder, read_mined
from rl_gym.iac.tasks.parametric import episode_of, make_episode
from rl_gym.iac.texts import ANCHOR_NEAR, REQUEST_NEAR, KnownTexts, fingerprint
from rl_gym.infra.errors import NotFoundError, UsageError

__all__ = ["ANCHORS", "PARAMETRIC", "SOURCES", "anchor", "at_hand", "excluded", "frozen", "mined_holdout", "train"]

log = logging.getLogger(__name__)

ANCHORS = ("dev", "holdout", "synthetic")
"""`dev`: 120 of IaC-Eval. `holdout`: requests made from Checkov's configurations. `synthetic`: 240 parametric ones."""

SOURCES = ("parametric", "iac_eval", "module", "mined")
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


def mined_holdout(folder: Path) -> tuple[FrozenSplit, list[Episode]]:
    """What was held out of a folder of mined episodes; NotFoundError where that is nothing."""
    mined = _mined(folder)
    if mined.frozen is None:
        raise NotFoundError(f"{folder} holds nothing out: mine with a larger --holdout-share, or more repositories")
    return mined.frozen, mined.holdout


def train(
    folder: Path | None,
    sources: Sequence[str] | None = None,
    parametric: int = PARAMETRIC,
    mined: Path | None = None,
) -> list[Episode]:
    """The training split: parametric episodes, then those of the corpora and of the folder `mined` that neither are an
    anchor's nor come close to one.

    With `sources` named, each must be there. Without, the corpora that are not on this machine are left out, which the
    log says: nothing is fetched for training unless it was asked for. Beside mined episodes nothing trains that comes
    close to what was mined and held out. Raises UsageError, naming it, where an anchor's episode is among the mined.
    """
    unknown = set(sources or ()) - set(SOURCES)
    if unknown:
        raise UsageError(f"there is no training source {sorted(unknown)[0]!r}: choose among {', '.join(SOURCES)}")
    if mined is None and "mined" in (sources or ()):
        raise UsageError("the training source 'mined' needs the folder: environment.options.mined=FOLDER")
    readers: Mapping[str, Callable[[], Iterable[Episode]]] = {
        "parametric": lambda: map(make_episode, range(parametric)),
        "iac_eval": lambda: datasets.iac_eval(folder, fetch=sources is not None).episodes,
        "module": lambda: datasets.modules(folder).episodes,
        "mined": lambda: _mined(mined).train if mined else (),
    }
    episodes: list[Episode] = []
    for source in sources or SOURCES:
        try:
            episodes += readers[source]()
        except NotFoundError as error:
            if sources is not None or source == "mined":
                raise
            log.warning("the training split goes without %s: %s", source, error)
    kept_out = excluded() | set(frozen("dev").episodes)
    kept = {e.hash: e for e in episodes if e.hash not in kept_out}.values()
    return _apart(kept, _mined(mined).holdout) if mined else list(kept)


def _apart(episodes: Iterable[Episode], holdout: Sequence[Episode]) -> list[Episode]:
    """Those that share with what is held out no content, no request and, where requests are made of them, no types."""
    references, requests = KnownTexts(ANCHOR_NEAR), KnownTexts(REQUEST_NEAR)
    for episode in holdout:
        references.add(episode.id, fingerprint(episode.data["reference"]))
        requests.add(episode.id, fingerprint(episode.request))
    types = {frozenset(episode.data["required"]) for episode in holdout}

    def close(episode: Episode) -> bool:
        if episode.source in ("module", "mined") and frozenset(episode.data["required"]) in types:
            return True
        reference = episode.data.get("reference")
        copied = reference is not None and references.find(fingerprint(reference)) is not None
        return copied or requests.find(fingerprint(episode.request)) is not None

    return [episode for episode in episodes if not close(episode)]


def _mined(folder: Path) -> MinedFolder:
    """A folder of mined episodes, read again where it was mined again."""
    report = folder.resolve() / REPORT
    written = report.stat() if report.is_file() else None
    return _read(report.parent, written and (written.st_mtime_ns, written.st_ino))


@lru_cache(maxsize=4)
def _read(folder: Path, written: object) -> MinedFolder:
    """A folder of mined episodes as it was written then, refused where an anchor's episode would train."""
    mined = read_mined(folder)
    for name in ANCHORS:
        both = next((e.id for e in mined.train if e.hash in frozen(name).episodes), None)
        if both is not None:
            raise UsageError(f"{folder}: {both} is an episode of the anchor {name}, which never trains: mine again")
    return mined
