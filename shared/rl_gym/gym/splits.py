"""Anchors that stay what they were: splits frozen by content hash, and kept out of what a policy trains on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from rl_gym.gym.core import Episode
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.extras import extra
from rl_gym.infra.text_files import split_lines

__all__ = ["FrozenSplit", "Overlap", "contamination", "freeze", "read_frozen", "refuse", "verify", "write_frozen"]

LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
MAX_EPISODES = 1_000_000
SHINGLE_WORDS = 3
NEAR = 0.8
PERMUTATIONS = 128


@dataclass(frozen=True, slots=True)
class FrozenSplit:
    """The content hashes of a split's episodes, each with the episode's id for people to read."""

    name: str
    episodes: Mapping[str, str]


def freeze(name: str, episodes: Iterable[Episode]) -> FrozenSplit:
    """The hashes of a split as it stands; UsageError where an episode stands in it twice."""
    frozen: dict[str, str] = {}
    for episode in episodes:
        if (other := frozen.setdefault(episode.hash, episode.id)) != episode.id:
            raise UsageError(f"split {name!r}: {episode.id} is the same episode as {other}")
    return FrozenSplit(name, frozen)


def write_frozen(path: Path, split: FrozenSplit) -> None:
    """Write a split as text to commit: a comment, then one `hash  id` a line, in the order of the split."""
    lines = [f"# Frozen split {split.name}: {len(split.episodes)} episodes, each by content hash and id."]
    lines += [f"{identity}  {name}" for identity, name in split.episodes.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_frozen(path: Path | Traversable, name: str | None = None) -> FrozenSplit:
    """Read what `write_frozen` wrote; the name is the file's stem unless one is given.

    Raises NotFoundError where the file is not there, UsageError (`file:line: why`) for a line of another form.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no frozen split there") from None
    episodes: dict[str, str] = {}
    for number, line in enumerate(split_lines(text), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.fullmatch(line.rstrip())
        if match is None:
            raise UsageError(f"{path}:{number}: a line of a frozen split is 64 hex digits, two spaces, an episode's id")
        if match[1] in episodes:
            raise UsageError(f"{path}:{number}: this hash stands twice")
        episodes[match[1]] = match[2]
    if not 0 < len(episodes) <= MAX_EPISODES:
        raise UsageError(f"{path}: {len(episodes)} episodes, where 1 to {MAX_EPISODES} are possible")
    return FrozenSplit(name or Path(path.name).stem, episodes)


def verify(frozen: FrozenSplit, episodes: Iterable[Episode]) -> None:
    """Raise UsageError, naming episodes, unless these are exactly the episodes that were frozen."""
    found = {episode.hash: episode.id for episode in episodes}
    missing = [name for identity, name in frozen.episodes.items() if identity not in found]
    extra_ones = [name for identity, name in found.items() if identity not in frozen.episodes]
    changed = [name for name in missing if name in set(extra_ones)]
    groups = {
        "changed": changed,
        "missing": [name for name in missing if name not in changed],
        "extra": [name for name in extra_ones if name not in changed],
    }
    if any(groups.values()):
        parts = [f"{len(names)} {what} ({_some(names)})" for what, names in groups.items() if names]
        raise UsageError(f"split {frozen.name!r} is not what was frozen: {', '.join(parts)}")


@dataclass(frozen=True, slots=True)
class Overlap:
    """A training episode that an anchor holds too: the same content, the same request, or nearly the same text."""

    train: str
    anchor: str
    episode: str
    kind: Literal["content", "request", "near"]
    similarity: float

    def __str__(self) -> str:
        how = f"{self.similarity:.2f} alike" if self.kind == "near" else f"same {self.kind}"
        return f"{self.train} ~ {self.anchor}/{self.episode} ({how})"


def contamination(
    train: Iterable[Episode],
    anchors: Mapping[str, Sequence[Episode]],
    *,
    near: float | None = NEAR,
    text: Callable[[Episode], str] | None = None,
) -> list[Overlap]:
    """Every pair of a training episode and an anchor's episode that are the same, or nearly so.

    Compared are the content hash, then the request (without case, punctuation and spacing), then `text(episode)` (the
    request where not given): its overlapping runs of three words, whose Jaccard similarity is at least `near`. Pairs
    are found by MinHash (Broder 1997; datasketch's LSH, tuned to miss fewer than 1 in 1,000 pairs at the threshold) and
    then computed exactly, so that each similarity reported is true. 0.8 is about one word changed in a request of
    thirty. With `near=None` only the exact comparisons are made, and datasketch (extra `audit`) is not needed.
    """
    overlaps: list[Overlap] = []
    by_content: dict[str, list[tuple[str, str]]] = {}
    by_request: dict[str, list[tuple[str, str]]] = {}
    for anchor, episodes in anchors.items():
        for episode in episodes:
            by_content.setdefault(episode.hash, []).append((anchor, episode.id))
            by_request.setdefault(_words(episode.request), []).append((anchor, episode.id))
    index = _NearIndex(anchors, near, text) if near is not None else None
    for episode in train:
        found: dict[tuple[str, str], Overlap] = {}
        for place in by_content.get(episode.hash, ()):
            found[place] = Overlap(episode.id, *place, "content", 1.0)
        for place in by_request.get(_words(episode.request), ()):
            found.setdefault(place, Overlap(episode.id, *place, "request", 1.0))
        if index is not None:
            for place, similarity in index.matches(episode):
                found.setdefault(place, Overlap(episode.id, *place, "near", similarity))
        overlaps += found.values()
    return overlaps


def refuse(
    train: Iterable[Episode],
    anchors: Mapping[str, Sequence[Episode]],
    *,
    near: float | None = NEAR,
    text: Callable[[Episode], str] | None = None,
) -> None:
    """Raise UsageError, naming pairs, where a training mix holds an anchor's episode: call it before training."""
    overlaps = contamination(train, anchors, near=near, text=text)
    if overlaps:
        raise UsageError(
            f"the training mix holds {len(overlaps)} episodes of an anchor: {_some([str(o) for o in overlaps])}"
        )


class _NearIndex:
    """The anchors' episodes, to be asked for near-duplicates."""

    def __init__(
        self, anchors: Mapping[str, Sequence[Episode]], near: float, text: Callable[[Episode], str] | None
    ) -> None:
        if not 0 < near <= 1:
            raise UsageError(f"near must lie in (0, 1], not {near}")
        with extra("audit"):
            from datasketch import MinHash, MinHashLSH
        self._near = near
        self._text = text or (lambda episode: episode.request)
        self._minhash = MinHash
        self._lsh = MinHashLSH(num_perm=PERMUTATIONS, params=_bands(near))
        self._shingles: dict[tuple[str, str], frozenset[str]] = {}
        for anchor, episodes in anchors.items():
            for episode in episodes:
                place = anchor, episode.id
                if place in self._shingles:
                    raise UsageError(f"split {anchor!r}: two episodes are called {episode.id}")
                self._shingles[place] = _shingles(self._text(episode))
                self._lsh.insert(place, self._sketch(self._shingles[place]))

    def matches(self, episode: Episode) -> Iterator[tuple[tuple[str, str], float]]:
        shingles = _shingles(self._text(episode))
        for place in sorted(self._lsh.query(self._sketch(shingles))):
            other = self._shingles[place]
            similarity = len(shingles & other) / len(shingles | other)
            if similarity >= self._near:
                yield place, similarity

    def _sketch(self, shingles: frozenset[str]) -> object:
        sketch = self._minhash(num_perm=PERMUTATIONS)
        sketch.update_batch([shingle.encode() for shingle in shingles])
        return sketch


def _bands(near: float) -> tuple[int, int]:
    """Bands and rows for LSH: the most rows (fewest idle candidates) that miss under 1 in 1,000 pairs at `near`.

    A pair of similarity s is a candidate with probability 1 - (1 - s^rows)^bands.
    """
    for rows in range(PERMUTATIONS // 2, 0, -1):
        bands = PERMUTATIONS // rows
        if (1 - near**rows) ** bands < 1e-3:
            return bands, rows
    return PERMUTATIONS, 1


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _shingles(text: str) -> frozenset[str]:
    words = _words(text).split()
    runs = range(max(1, len(words) - SHINGLE_WORDS + 1))
    return frozenset(" ".join(words[start : start + SHINGLE_WORDS]) for start in runs)


def _some(names: Sequence[str], most: int = 5) -> str:
    rest = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
