"""Fingerprints: a copy is found, changed a little or a lot, and what is not one is left alone."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from rl_gym.gym.core import Episode
from rl_gym.gym.splits import contamination
from rl_gym.iac import freeze
from rl_gym.iac.anchors import anchor
from rl_gym.iac.datasets import checkov_request, modules
from rl_gym.iac.texts import ANCHOR_NEAR, SKETCH, KnownTexts, anchor_texts, fingerprint, write_anchor_texts


def words(count: int, seed: int = 0) -> list[str]:
    rng = Random(seed)
    return [f"w{rng.randrange(10_000)}" for _ in range(count)]


def jaccard(one: list[str], other: list[str]) -> float:
    first, second = ({tuple(some[at : at + 3]) for at in range(len(some) - 2)} for some in (one, other))
    return len(first & second) / len(first | second)


def test_layout_case_and_comments_do_not_count() -> None:
    plain = 'resource "aws_vpc" "v" {\n  cidr_block = "10.0.0.0/16"\n}\n'
    other = (
        '# Copyright\n/* one\n two */\nRESOURCE "aws_vpc" "v" { // not a line of its own\ncidr_block="10.0.0.0/16" }'
    )
    assert fingerprint(plain) == fingerprint(other.replace(" // not a line of its own", ""))
    assert fingerprint(plain) != fingerprint(other)
    assert fingerprint("a b c\n/* d e f") == fingerprint("a b c d e f")


def test_a_text_made_to_stall_the_reader_does_not() -> None:
    assert fingerprint("/*\n" * 200_000 + "a") == fingerprint("a")
    assert fingerprint("x\n" + "/* \n" * 100_000 + "*/ y") == fingerprint("x")


@pytest.mark.parametrize("changed", [0.0, 0.02, 0.05, 0.1, 0.3, 1.0])
def test_the_similarity_is_jaccards_within_its_error(changed: float) -> None:
    one = words(2000)
    fresh = words(2000, seed=1)
    cut = int(2000 * changed)
    other = fresh[:cut] + one[cut:]
    told = fingerprint(" ".join(one)).similarity(fingerprint(" ".join(other)))
    assert told == pytest.approx(jaccard(one, other), abs=0.18)


def test_of_short_texts_it_is_exact() -> None:
    one, other = words(40), [*words(30), *words(10, seed=1)]
    told = fingerprint(" ".join(one)).similarity(fingerprint(" ".join(other)))
    assert len(fingerprint(" ".join(one)).sketch) < SKETCH
    assert told == jaccard(one, other)


def test_the_nearest_that_is_known_is_found() -> None:
    known = KnownTexts(0.8)
    for seed in range(50):
        known.add(str(seed), fingerprint(" ".join(words(300, seed))))
    assert known.find(fingerprint(" ".join(words(300, 7)))) == ("7", 1.0)
    found = known.find(fingerprint(" ".join([*words(295, 7), *words(5, 99)])))
    assert found is not None
    assert found[0] == "7"
    assert known.find(fingerprint(" ".join(words(300, 99)))) is None
    assert known.find(fingerprint("")) is None


def test_what_is_written_down_of_the_anchors_is_what_they_are(data_dir: Path, tmp_path: Path) -> None:
    drawn = freeze.draw_texts({name: anchor(name, data_dir) for name in ("dev", "holdout")})
    assert list(anchor_texts()) == drawn
    write_anchor_texts(tmp_path, drawn)
    committed = Path(freeze.__file__).parent / "splits" / "texts.txt"
    assert (tmp_path / "texts.txt").read_bytes() == committed.read_bytes()


def test_the_requests_of_the_holdout_follow_from_it(data_dir: Path) -> None:
    requests = {episode.id: episode.request for episode in anchor("holdout", data_dir)}
    told = {one.episode: checkov_request(one.episode, one.types) for one in anchor_texts() if one.anchor == "holdout"}
    assert told == requests


@pytest.fixture(scope="module")
def held() -> KnownTexts:
    known = KnownTexts(ANCHOR_NEAR)
    for one in anchor_texts():
        known.add(f"{one.anchor}/{one.episode}", one.print)
    return known


@pytest.mark.parametrize("name", ["dev", "holdout"])
def test_what_comes_near_an_anchors_answer_is_found(held: KnownTexts, data_dir: Path, name: str) -> None:
    """As `contamination` measures it, which needs the corpora: what it calls near is found without them."""
    episodes = anchor(name, data_dir)
    others = [changed(episode) for episode in episodes]
    # The request is another's, so that it is the answer which decides.
    near = {overlap.train for overlap in contamination(others, {name: episodes}, text=freeze.reference)}
    assert len(near) > 60
    missed = [e.id for e in others if e.id in near and held.find(fingerprint(e.data["reference"])) is None]
    assert missed == []


def changed(episode: Episode) -> Episode:
    """The same with an answer under another head, in which some words are others."""
    rng = Random(episode.id)
    text = re.sub(r"\w+", lambda word: "other" if rng.random() < 1 / 40 else word[0], episode.data["reference"])
    text = f"# SPDX-License-Identifier: MIT\n\n{text}"
    return Episode(episode.id, f"other {episode.id}", "", {**episode.data, "reference": text})


def test_module_files_that_train_are_nobodys(held: KnownTexts, data_dir: Path) -> None:
    assert [e.id for e in modules(data_dir).episodes if held.find(fingerprint(e.data["reference"]))] == []
