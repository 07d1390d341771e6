"""Picking is sampling: by the right distribution, from noise of the row's own, and the same for the same seed."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra serve is not installed")

import torch

from rl_gym.serving.backends.picking import Picker
from rl_gym.serving.sampling import Sampling

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0, -4.0])
MANY = 20_000


def picks(sampling: Sampling, rows: int = MANY) -> torch.Tensor:
    picker = Picker([sampling] * rows, list(range(rows)))
    numbers = list(range(rows))
    tokens, _, _ = picker.pick(numbers, LOGITS.expand(rows, -1), picker.noise(numbers, len(LOGITS)))
    return torch.bincount(tokens, minlength=len(LOGITS)) / rows


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_it_samples_the_distribution(temperature: float) -> None:
    expected = (LOGITS / temperature).softmax(-1)
    # Five standard errors of a share.
    assert torch.all((picks(Sampling(temperature=temperature)) - expected).abs() < 5 * (0.25 / MANY) ** 0.5)


@pytest.mark.parametrize(("top_p", "kept"), [(0.01, 1), (0.6, 1), (0.7, 2), (0.9, 3), (0.999, 5), (1.0, 5)])
def test_top_p_keeps_the_likeliest(top_p: float, kept: int) -> None:
    shares = picks(Sampling(temperature=1.0, top_p=top_p))
    expected = LOGITS.softmax(-1)
    expected[kept:] = 0
    assert torch.all((shares - expected / expected.sum()).abs() < 5 * (0.25 / MANY) ** 0.5)


def test_log_probabilities_are_of_what_was_sampled_from() -> None:
    picker = Picker([Sampling(temperature=2.0, top_p=0.5), Sampling(greedy=True, temperature=2.0)], [1, 2])
    tokens, logprobs, _ = picker.pick([0, 1], LOGITS.expand(2, -1), picker.noise([0, 1], 5))
    kept = (LOGITS / 2.0)[:2].log_softmax(-1)
    assert logprobs[0] == pytest.approx(kept[tokens[0]].item())
    assert tokens[1] == 0
    assert logprobs[1] == pytest.approx(LOGITS.log_softmax(-1)[0].item())


def test_noise_is_the_rows_own() -> None:
    sampling = Sampling()
    two, one = Picker([sampling, sampling], [5, 6]), Picker([sampling], [6])
    assert torch.equal(two.noise([0, 1], 8)[1:], one.noise([0], 8))
    assert torch.equal(two.noise([1], 8), one.noise([0], 8))
    assert not torch.equal(two.noise([1], 8), two.noise([0], 8))


@pytest.mark.parametrize(
    ("logits", "top_p", "close"),
    [
        ([1.0, 1.0 + 1e-5, 0.0], 1.0, True),
        ([1.0, 1.1, 0.0], 1.0, False),
        # Before the second token lies just what top_p asks for, and its noise would make it win.
        ([0.0, 0.0, -50.0], 0.5, True),
    ],
)
def test_what_rounding_could_turn_is_a_close_call(logits: list[float], top_p: float, close: bool) -> None:
    picker = Picker([Sampling(top_p=top_p)], [0])
    noise = torch.tensor([[0.0, 1.0, 0.0]]) if top_p < 1 else torch.zeros(1, 3)
    assert picker.pick([0], torch.tensor([logits]), noise)[2].item() is close
