"""The text of a row as it is told, token by token."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("torch", reason="the extra serve is not installed")

from rl_gym.serving.backends.decoding import Row
from rl_gym.serving.causal import CausalModel
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.serving.weights import find_model


@pytest.fixture(scope="module")
def model() -> CausalModel:
    return CausalModel(find_model("nano"))


def told(model: CausalModel, tokens: list[int], *, wanted: int = 1_000) -> tuple[list[str], list[Sample]]:
    """What is told of these tokens, and the sample; nobody wants more than the first `wanted`."""
    parts: list[str] = []
    ended: list[Sample] = []
    row = Row(
        [4],
        Sampling(max_tokens=len(tokens)),
        0,
        wanted=lambda: len(row.tokens) <= wanted,
        on_end=ended.append,
        on_text=parts.append,
    )
    for token in tokens:
        if not row.over:
            row.take(token, -0.5, model, frozenset({1}))
    return parts, ended


@pytest.mark.parametrize("seed", range(40))
def test_parts_are_the_whole_text_whatever_the_tokens(model: CausalModel, seed: int) -> None:
    """Of random tokens most are broken UTF-8."""
    chance = random.Random(seed)
    tokens = [chance.randrange(2, 260 if seed % 2 else 1_280) for _ in range(60)]
    parts, [sample] = told(model, tokens)
    assert "".join(parts) == sample.text == model.decode(tokens)
    assert (sample.tokens, sample.finish_reason) == (60, "length")


def test_a_character_of_several_tokens_is_told_whole(model: CausalModel) -> None:
    tokens = model.encode("é北🎉")
    assert len(tokens) > 3
    parts, _ = told(model, [*tokens, 1])
    assert parts == ["é", "北", "🎉"]


def test_the_end_is_counted_and_not_told(model: CausalModel) -> None:
    parts, [sample] = told(model, [*model.encode("a"), 1, 70, 70])
    assert (parts, sample.text, sample.tokens, sample.finish_reason) == (["a"], "a", 2, "stop")


def test_a_row_that_nobody_wants_ends_without_a_sample(model: CausalModel) -> None:
    parts, ended = told(model, model.encode("a b c d e f"), wanted=3)
    assert (len(parts), ended) == (3, [])
