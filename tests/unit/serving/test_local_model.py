"""Generation by a local model: order, seeds, limits, and what it says about each sample."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from rl_gym.iac.prompts import prompt
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.serving.local_model import LocalModel
from rl_gym.serving.sampling import Sampling
from rl_gym.serving.weights import find_model

PROMPTS = [prompt("a bucket atlas-media", ["aws_s3_bucket"]), prompt("a story without end " * 8), "x"]


@pytest.fixture(scope="module")
def model() -> LocalModel:
    return LocalModel(find_model("nano-base"), batch_size=4)


def texts(model: LocalModel, prompts: list[str], **how: Any) -> list[list[str]]:
    return [[sample.text for sample in samples] for samples in model.complete(prompts, Sampling(**how))]


def test_every_prompt_gets_its_samples_in_its_place(model: LocalModel) -> None:
    answers = texts(model, PROMPTS, greedy=True, max_tokens=12)
    assert [len(answer) for answer in answers] == [1, 1, 1]
    assert answers[::-1] == texts(model, PROMPTS[::-1], greedy=True, max_tokens=12)
    assert answers[1] == texts(model, PROMPTS[1:2], greedy=True, max_tokens=12)[0]


def test_sampling_follows_its_seed(model: LocalModel) -> None:
    first = texts(model, PROMPTS, n=3, seed=5, max_tokens=24)
    assert [len(answer) for answer in first] == [3, 3, 3]
    assert first == texts(model, PROMPTS, n=3, seed=5, max_tokens=24)
    assert first != texts(model, PROMPTS, n=3, seed=6, max_tokens=24)
    assert len({text for answer in first for text in answer}) > 3


def test_a_low_temperature_comes_near_greedy(model: LocalModel) -> None:
    assert texts(model, PROMPTS[:1], temperature=0.01, max_tokens=8) == texts(
        model, PROMPTS[:1], greedy=True, max_tokens=8
    )


def test_a_sample_says_how_it_ended_and_how_long_it_is(model: LocalModel) -> None:
    [[cut]] = model.complete(PROMPTS[:1], Sampling(max_tokens=3, greedy=True))
    assert (cut.finish_reason, cut.tokens) == ("length", 3)
    [[whole]] = model.complete(PROMPTS[:1], Sampling(max_tokens=400, greedy=True))
    assert whole.finish_reason == "stop"
    assert 3 < whole.tokens < 400
    assert whole.text.startswith(cut.text)
    assert "<end>" not in whole.text


def test_log_probabilities_come_one_a_token(model: LocalModel) -> None:
    samples = model.complete(PROMPTS[:2], Sampling(n=2, max_tokens=64, logprobs=True))
    for sample in (sample for answer in samples for sample in answer):
        assert sample.logprobs is not None
        assert len(sample.logprobs) == sample.tokens
        assert all(math.isfinite(p) and p <= 0 for p in sample.logprobs)
    [[plain]] = model.complete(PROMPTS[:1], Sampling(max_tokens=4))
    assert plain.logprobs is None


def test_progress_counts_prompts(model: LocalModel) -> None:
    counts: list[int] = []
    model.complete(PROMPTS, Sampling(n=2, max_tokens=2), progress=counts.append)
    assert sum(counts) == len(PROMPTS)
    assert max(counts) <= 2


@pytest.mark.parametrize(
    ("text", "said"), [("", "prompt 0 is empty"), ("word " * 4000, "prompt 0 does not fit: .* tokens, 8 to generate")]
)
def test_a_prompt_that_cannot_be_read_is_refused(model: LocalModel, text: str, said: str) -> None:
    assert not model.fits(text, Sampling(max_tokens=8))
    with pytest.raises(UsageError, match=said):
        model.complete([text], Sampling(max_tokens=8))


@pytest.mark.parametrize(
    "how",
    [
        {"n": 0},
        {"n": 10_000},
        {"max_tokens": 0},
        {"max_tokens": 1 << 20},
        {"temperature": 0.0},
        {"temperature": math.nan},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"greedy": True, "n": 2},
    ],
)
def test_sampling_has_bounds(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="sampling: "):
        Sampling(**how)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"config\.json is missing"):
        LocalModel(tmp_path)


def test_a_damaged_model_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(UsageError) as raised:
        LocalModel(tmp_path)
    assert "cannot be loaded" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((find_model("nano-base") / name).read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(UsageError, match="cannot be loaded"):
        LocalModel(tmp_path)
