from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rl_gym.gym.core import Episode
from rl_gym.gym.splits import contamination, freeze, read_frozen, refuse, verify, write_frozen
from rl_gym.infra.errors import NotFoundError, UsageError

WORDS = [f"word{number}" for number in range(400)]


def episode(number: int) -> Episode:
    return Episode(f"e{number}", " ".join(random.Random(number).choices(WORDS, k=30)), data={"n": number})


EPISODES = [episode(number) for number in range(20)]


def test_a_frozen_split_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "dev.txt"
    write_frozen(path, freeze("dev", EPISODES))
    frozen = read_frozen(path)
    assert frozen == freeze("dev", EPISODES)
    assert list(frozen.episodes.values()) == [e.id for e in EPISODES]
    verify(frozen, EPISODES)
    verify(frozen, list(reversed(EPISODES)))


def test_an_id_may_hold_what_some_take_for_the_end_of_a_line(tmp_path: Path) -> None:
    split = freeze("dev", [replace(EPISODES[0], id="one\u2028two\x85three")])
    write_frozen(tmp_path / "dev.txt", split)
    assert read_frozen(tmp_path / "dev.txt") == split


def test_what_is_missing_extra_or_changed_is_named() -> None:
    frozen = freeze("dev", EPISODES)
    changed = replace(EPISODES[3], request="something else")
    now = [e for e in EPISODES if e.id not in ("e3", "e5")] + [changed, episode(99)]
    with pytest.raises(
        UsageError, match=r"'dev' is not what was frozen: 1 changed \(e3\), 1 missing \(e5\), 1 extra \(e99\)"
    ):
        verify(frozen, now)


def test_a_repeated_episode_cannot_be_frozen() -> None:
    with pytest.raises(UsageError, match="again is the same episode as e0"):
        freeze("dev", [EPISODES[0], replace(EPISODES[0], id="again")])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("deadbeef  e1\n", r"dev\.txt:1: a line of a frozen split is"),
        (f"# comment\n{'a' * 64} e1\n", r"dev\.txt:2"),
        (f"{'a' * 64}  e1\n{'a' * 64}  e2\n", r"dev\.txt:2: this hash stands twice"),
        ("# nothing\n", "0 episodes"),
    ],
)
def test_a_damaged_file_says_where(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "dev.txt"
    path.write_text(text)
    with pytest.raises(UsageError, match=why):
        read_frozen(path)


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no frozen split"):
        read_frozen(tmp_path / "absent.txt")


def test_independent_requests_do_not_overlap() -> None:
    assert contamination([episode(n) for n in range(100, 300)], {"dev": EPISODES}) == []


def test_every_kind_of_overlap_is_found_and_told_apart() -> None:
    anchor = EPISODES[7]
    words = anchor.request.split()
    near = " ".join([*words[:-1], "another"])
    far = " ".join(words[:10] + [f"new{number}" for number in range(20)])
    train = [
        replace(anchor, id="copy"),
        Episode("shouted", f"  {anchor.request.upper()}!! ", data={"other": 1}),
        Episode("near", near),
        Episode("far", far),
        episode(500),
    ]
    found = {overlap.train: overlap for overlap in contamination(train, {"dev": EPISODES, "holdout": [episode(900)]})}
    assert {name: overlap.kind for name, overlap in found.items()} == {
        "copy": "content",
        "shouted": "request",
        "near": "near",
    }
    assert all((o.anchor, o.episode) == ("dev", "e7") for o in found.values())
    # 28 runs of three words each, all but the last shared: 27 of 29.
    assert found["near"].similarity == pytest.approx(27 / 29)


def test_near_duplicates_at_the_threshold_are_not_missed() -> None:
    """LSH is a sieve with holes: at the similarity that is promised, every pair of many must come through."""
    anchors = [episode(number) for number in range(150)]
    train = []
    for anchor in anchors:
        words = anchor.request.split()
        words[15] = "another"  # three of 28 runs differ: 25 shared of 31
        train.append(Episode(f"near-{anchor.id}", " ".join(words)))
    assert len(contamination(train, {"dev": anchors})) == len(anchors)


def test_the_threshold_is_exact_and_a_setting() -> None:
    anchor = EPISODES[0]
    words = anchor.request.split()
    words[5], words[15] = "one", "two"
    train = [Episode("two-words", " ".join(words))]  # 22 shared of 34: 0.65
    assert contamination(train, {"dev": [anchor]}) == []
    assert [o.similarity for o in contamination(train, {"dev": [anchor]}, near=0.6)] == [pytest.approx(22 / 34)]
    with pytest.raises(UsageError, match="near must lie"):
        contamination(train, {"dev": [anchor]}, near=0.0)


def test_an_environment_may_say_what_text_to_compare() -> None:
    train, anchor = (
        Episode("t", "one wording", data={"text": "a b c d"}),
        Episode("a", "other", data={"text": "a b c d"}),
    )
    assert contamination([train], {"dev": [anchor]}) == []
    [overlap] = contamination([train], {"dev": [anchor]}, text=lambda e: e.data["text"])
    assert overlap.kind == "near"


def test_short_and_empty_requests_are_compared_whole() -> None:
    anchors = {"dev": [Episode("a", "Sort it")]}
    assert [o.kind for o in contamination([Episode("t", "sort  IT.", data={"x": 1})], anchors)] == ["request"]
    assert contamination([Episode("t", "")], anchors) == []


def test_refusal_names_the_pairs_and_bounds_the_line() -> None:
    refuse([episode(1_000)], {"dev": EPISODES})
    with pytest.raises(UsageError, match=r"20 episodes of an anchor: e0 ~ dev/e0 \(same content\).*and 15 more$"):
        refuse(EPISODES, {"dev": EPISODES})


def test_exact_comparison_needs_no_datasketch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasketch", None)
    assert len(contamination(EPISODES[:1], {"dev": EPISODES}, near=None)) == 1
    with pytest.raises(UsageError, match=r"pip install 'rl-gym\[audit\]'"):
        contamination(EPISODES[:1], {"dev": EPISODES})
