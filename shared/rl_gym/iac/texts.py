"""Terraform texts by fingerprint: which of those that are known another one is, or nearly is, without keeping them.

A fingerprint is a digest of the words and a bottom-k sketch (Cohen and Kaplan 2007) of their runs of three: small
enough to be committed, and from two of them the Jaccard similarity of the texts follows.
"""

from __future__ import annotations

import base64
import heapq
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from rl_gym.infra.errors import InfrastructureError

__all__ = [
    "ANCHOR_NEAR",
    "REQUEST_NEAR",
    "AnchorText",
    "Fingerprint",
    "KnownTexts",
    "anchor_texts",
    "fingerprint",
    "write_anchor_texts",
]

SKETCH = 64
SHINGLE_WORDS = 3
ANCHOR_NEAR = 0.65
"""From which estimated similarity on a text is an anchor's: 0.8, less what the estimate may be off."""

REQUEST_NEAR = 0.75
"""From which similarity on a request is another's: below what `gym.splits.refuse` refuses."""

_FILE = "texts.txt"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`digest`: 32 hex digits over the words. `sketch`: the 64 smallest 32-bit hashes of runs of three, ascending."""

    digest: str
    sketch: tuple[int, ...]

    def similarity(self, other: Fingerprint) -> float:
        """The estimated Jaccard similarity, exact for short texts; its standard error is at most 0.06."""
        union = heapq.nsmallest(SKETCH, {*self.sketch, *other.sketch})
        both = set(self.sketch).intersection(other.sketch)
        return sum(value in both for value in union) / len(union) if union else 1.0


def fingerprint(text: str) -> Fingerprint:
    """The fingerprint of a text, without case, punctuation, layout and comments that have lines of their own."""
    plain = unicodedata.normalize("NFKC", _code(text)).casefold()
    words = re.findall(r"\w+", plain)
    runs = range(max(1, len(words) - SHINGLE_WORDS + 1)) if words else ()
    shingles = {" ".join(words[start : start + SHINGLE_WORDS]) for start in runs}
    hashes = {int.from_bytes(sha256(shingle.encode()).digest()[:4], "big") for shingle in shingles}
    return Fingerprint(sha256(" ".join(words).encode()).hexdigest()[:32], tuple(heapq.nsmallest(SKETCH, hashes)))


def _code(text: str) -> str:
    """A text without comments that have lines of their own; what opens one and never closes it is no comment."""
    kept: list[str] = []
    within: list[str] = []
    for line in text.split("\n"):
        begun = line.lstrip()
        if within or begun.startswith("/*"):
            within.append(line)
            if "*/" in (line if len(within) > 1 else begun[2:]):
                within.clear()
        elif not begun.startswith(("#", "//")):
            kept.append(line)
    return "\n".join(kept + within)


class KnownTexts:
    """Fingerprints by name, to be asked for the text that another one comes from."""

    def __init__(self, near: float) -> None:
        self._near = near
        self._prints: dict[str, Fingerprint] = {}
        self._by_digest: dict[str, str] = {}
        self._by_hash: dict[int, list[str]] = {}

    def add(self, name: str, print_: Fingerprint) -> None:
        """Know one more; a name stands for one text."""
        self._prints[name] = print_
        self._by_digest.setdefault(print_.digest, name)
        for value in print_.sketch:
            self._by_hash.setdefault(value, []).append(name)

    def find(self, print_: Fingerprint) -> tuple[str, float] | None:
        """The name of the known text that is most alike, and how alike: at least `near`; None where none is."""
        if print_.digest in self._by_digest:
            return self._by_digest[print_.digest], 1.0
        shared = Counter(name for value in print_.sketch for name in self._by_hash.get(value, ()))
        # Of two alike by `near`, the sketches share about that part; half of it is far from chance on either side.
        least = self._near * len(print_.sketch) / 2
        alike = [(print_.similarity(self._prints[name]), name) for name, count in shared.items() if count >= least]
        best = max(alike, key=lambda pair: (pair[0], pair[1]), default=None)
        return (best[1], best[0]) if best and best[0] >= self._near else None


@dataclass(frozen=True, slots=True)
class AnchorText:
    """What is known of the answer that an anchor's episode came with: enough to see a copy, not to read it.

    `types` are the required ones, in order.
    """

    anchor: str
    episode: str
    types: tuple[str, ...]
    print: Fingerprint


@cache
def anchor_texts() -> tuple[AnchorText, ...]:
    """The answers of `dev` and `holdout`, as `freeze` wrote them down."""
    text = (files("rl_gym.iac") / "splits" / _FILE).read_text(encoding="utf-8")
    try:
        return tuple(_read(text))
    except ValueError as error:
        raise InfrastructureError(f"{_FILE} among the splits is damaged: {error}") from error


def _read(text: str) -> Iterator[AnchorText]:
    for line in text.splitlines():
        if not line.startswith("#"):
            anchor, episode, types, digest, packed = line.split("\t")
            data = base64.b64decode(packed, validate=True)
            sketch = struct.unpack(f">{len(data) // 4}I", data)
            yield AnchorText(anchor, episode, tuple(types.split(",")), Fingerprint(digest, sketch))


def write_anchor_texts(folder: Path, texts: list[AnchorText]) -> None:
    """Write what `anchor_texts` reads."""
    lines = ["# Fingerprints of the anchors' answers: anchor, episode, types, digest of the words, sketch (base64)."]
    for one in texts:
        packed = base64.b64encode(struct.pack(f">{len(one.print.sketch)}I", *one.print.sketch)).decode()
        lines.append("\t".join((one.anchor, one.episode, ",".join(one.types), one.print.digest, packed)))
    (folder / _FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
