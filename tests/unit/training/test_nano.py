"""The nano model's texts and tokens: names are spelt, copies weigh more, held-out names are never drawn."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest

pytest.importorskip("torch")

from transformers import AutoTokenizer

from rl_gym.iac.tasks.names import HELD_OUT_PROJECTS, TRAIN_PROJECTS
from rl_gym.serving.weights import find_model
from rl_gym.training import nano
from rl_gym.training.nano import Recipe

RECIPE = Recipe()


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(find_model("nano-base"), local_files_only=True)


def test_tokens_give_the_text_back(tokenizer: Any) -> None:
    text = nano._draw(Random(1), RECIPE)
    odd = 'ünïcode\r\n\t"${x}" <<EOT\n 12.5 a__b A1\n'
    for piece in (text.prompt, text.answer, odd):
        assert tokenizer.decode(tokenizer(piece)["input_ids"]) == piece


def test_a_type_is_one_token_and_a_name_is_spelt_the_same_wherever_it_stands(tokenizer: Any) -> None:
    def pieces(text: str) -> list[str]:
        return tokenizer.tokenize(text)

    assert pieces("aws_s3_bucket") == ["aws_s3_bucket"]
    spelt = pieces("abalone")
    assert len(spelt) > 1
    for text in ('"abalone"', " abalone-media", "aws_s3_bucket.abalone.id"):
        assert "|".join(spelt) in "|".join(pieces(text))


def test_the_end_of_a_prompt_and_the_start_of_an_answer_do_not_merge(tokenizer: Any) -> None:
    text = nano._draw(Random(2), RECIPE)
    apart = [*tokenizer(text.prompt)["input_ids"], *tokenizer(text.answer)["input_ids"]]
    assert tokenizer(text.prompt + text.answer)["input_ids"] == apart


def test_no_held_out_name_is_drawn() -> None:
    rng = Random(3)
    drawn = [nano._draw(rng, RECIPE) for _ in range(400)]
    words = {word for text in drawn for word in re.findall(r"[a-z]+", text.prompt + text.answer)}
    assert words.isdisjoint(HELD_OUT_PROJECTS)
    invented = sum(text.name not in TRAIN_PROJECTS for text in drawn) / len(drawn)
    assert 0.65 < invented < 0.85


def test_the_name_stands_in_prompt_and_answer() -> None:
    rng = Random(4)
    for text in (nano._draw(rng, RECIPE) for _ in range(100)):
        assert text.name in text.prompt
        assert f'"{text.name}"' in text.answer
        assert all(value in text.prompt for value in text.stated)


def test_copies_weigh_more_and_the_prompt_nothing(tokenizer: Any) -> None:
    text = nano._draw(Random(5), RECIPE)
    example = nano._encode(text, tokenizer, RECIPE)
    asked = len(tokenizer(text.prompt)["input_ids"])
    assert len(example.tokens) == len(example.weights)
    assert set(example.weights[:asked]) == {0.0}
    assert set(example.weights[asked:]) == {1.0, RECIPE.copy_weight, RECIPE.name_weight}
    copies = len(re.findall(rf"\b{text.name}\b", text.answer))
    assert example.weights.count(RECIPE.name_weight) == copies
    assert example.tokens[-1] == tokenizer.eos_token_id


def test_batches_hold_like_lengths(tokenizer: Any) -> None:
    batches = nano._batches(RECIPE, tokenizer)
    spreads = []
    for _ in range(4):
        lengths = [len(example.tokens) for example in next(batches)]
        assert len(lengths) == RECIPE.batch_size
        spreads.append(sum(lengths) / (len(lengths) * max(lengths)))
    assert sum(spreads) / len(spreads) > 0.85


def test_the_rate_warms_up_and_ends_at_a_tenth() -> None:
    rates = [nano._rate(step, RECIPE) for step in range(RECIPE.steps + 1)]
    assert rates[0] < rates[10] < rates[RECIPE.warmup_steps]
    assert max(rates) == pytest.approx(1.0, abs=0.01)
    assert rates[-1] == pytest.approx(0.1)
