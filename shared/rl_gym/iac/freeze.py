"""How the frozen splits were drawn: `python -m rl_gym.iac.freeze FOLDER_OF_THE_CORPORA` draws and writes them anew.

Only for a new version of the anchors: results on other anchors cannot be compared. Needs the extra `audit`.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rl_gym.gym.core import Episode
from rl_gym.gym.splits import contamination, freeze, write_frozen
from rl_gym.iac import datasets
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.tasks.parametric import make_episode, nano_episode
from rl_gym.iac.texts import AnchorText, fingerprint, write_anchor_texts

DEV = 120
SYNTHETIC_SMALL = 140
SYNTHETIC_LARGE = 100
_FOLDER = Path(__file__).parent / "splits"


def draw_dev(corpus: Sequence[Episode]) -> list[Episode]:
    """120 of those of IaC-Eval that are judged by more than their tags: each difficulty in proportion, no two alike."""
    episodes = [e for e in corpus if judged_types("tags").intersection(e.data["required"])]
    alike = _alike(episodes, episodes)
    sizes = _proportional(Counter(e.data["difficulty"] for e in episodes), DEV)
    chosen: list[Episode] = []
    for episode in sorted(episodes, key=lambda e: e.hash):
        level = episode.data["difficulty"]
        if sizes[level] and not alike[episode.id] & {e.id for e in chosen}:
            chosen.append(episode)
            sizes[level] -= 1
    return chosen


def draw_holdout(corpus: Iterable[Episode]) -> list[Episode]:
    """Those of Checkov's that ask for a type which the rules judge: the others could earn nothing."""
    return [e for e in corpus if judged_types().intersection(e.data["required"])]


def judged_types(*besides: str) -> frozenset[str]:
    """The resource types that rules of `base`, besides the named ones, have something to say about."""
    return frozenset(kind for rule in get_ruleset("base").rules if rule.id not in besides for kind in rule.types)


def draw_synthetic() -> list[Episode]:
    """Held-out names and combinations: 140 within the nano model's reach, and 100 stacks of three or four."""
    small = _distinct(nano_episode(seed, "synthetic") for seed in range(2 * SYNTHETIC_SMALL))
    drawn = (make_episode(seed, "synthetic") for seed in range(6 * SYNTHETIC_LARGE))
    large = _distinct(e for e in drawn if len(e.data["stack"]) > 2)
    return [*small[:SYNTHETIC_SMALL], *large[:SYNTHETIC_LARGE]]


def draw_excluded(train: Sequence[Episode], anchors: Mapping[str, Sequence[Episode]]) -> list[Episode]:
    """Training episodes whose request or reference is an anchor's, or nearly so.

    A module file's request is made of its types alone, so one with a holdout's types asks for the same in other words.
    """
    held = [e for episodes in anchors.values() for e in episodes]
    alike = _alike(train, held)
    types = {frozenset(e.data["required"]) for e in anchors["holdout"]}
    return _distinct(
        e for e in train if alike[e.id] or (e.source == "module" and frozenset(e.data["required"]) in types)
    )


def draw_texts(anchors: Mapping[str, Sequence[Episode]]) -> list[AnchorText]:
    """What is written down of the answers of people: a copy is seen by it where the corpora are not at hand."""
    return [
        AnchorText(name, e.id, tuple(e.data["required"]), fingerprint(e.data["reference"]))
        for name, episodes in anchors.items()
        for e in episodes
        if "reference" in e.data
    ]


def _alike(episodes: Sequence[Episode], others: Sequence[Episode]) -> Mapping[str, set[str]]:
    """For each episode the ids of others with the same or nearly the same request or reference, itself left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for text in (None, reference):
        for overlap in contamination(episodes, {"others": others}, text=text):
            if overlap.train != overlap.episode:
                found[overlap.train].add(overlap.episode)
    return found


def reference(episode: Episode) -> str:
    """What a person answered; where nobody did, the request."""
    return str(episode.data.get("reference", episode.request))


def _proportional(counts: Mapping[int, int], total: int) -> dict[int, int]:
    """`total` shared out in proportion to the counts, by largest remainder."""
    shares = {level: total * count / sum(counts.values()) for level, count in sorted(counts.items())}
    sizes = {level: int(share) for level, share in shares.items()}
    for level in sorted(shares, key=lambda level: sizes[level] - shares[level])[: total - sum(sizes.values())]:
        sizes[level] += 1
    return sizes


def _distinct(episodes: Iterable[Episode]) -> list[Episode]:
    return list({episode.hash: episode for episode in episodes}.values())


def main(folder: Path) -> None:
    iac_eval, checkov, modules = (
        read(folder).episodes for read in (datasets.iac_eval, datasets.checkov, datasets.modules)
    )
    anchors = {"dev": draw_dev(iac_eval), "holdout": draw_holdout(checkov), "synthetic": draw_synthetic()}
    dev = {e.hash for e in anchors["dev"]}
    candidates = [e for e in (*iac_eval, *modules) if e.hash not in dev]
    for name, episodes in {**anchors, "excluded": draw_excluded(candidates, anchors)}.items():
        write_frozen(_FOLDER / f"{name}.txt", freeze(name, episodes))
        print(f"{name}: {len(episodes)}")
    write_anchor_texts(_FOLDER, draw_texts(anchors))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m rl_gym.iac.freeze FOLDER_OF_THE_CORPORA")
    main(Path(sys.argv[1]))
