"""Which token comes next in each row of a batch: by the row's own sampling and its own noise."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rl_gym.serving.sampling import Sampling

__all__ = ["Picker"]

_CLOSE_CALL = 1e-3
"""Far above what float32 loses on the way to a logit, and seldom reached: a row in some hundreds."""
_CLOSE_TO_CUT = 1e-5
_LEAST = 1e-30


class Picker:
    """Picks by the Gumbel-max rule: the likeliest token once every log-probability has noise of its own added.

    That is a sample of the distribution, and a function of logits and noise alone: no row takes random numbers that
    another would have had. Greedy rows have no noise.
    """

    def __init__(self, samplings: Sequence[Sampling], seeds: Sequence[int]) -> None:
        self._noisy = [not sampling.greedy for sampling in samplings]
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        temperatures = [1.0 if sampling.greedy else sampling.temperature for sampling in samplings]
        self._temperature = torch.tensor(temperatures).unsqueeze(1)
        self._top_p = torch.tensor([1.0 if sampling.greedy else sampling.top_p for sampling in samplings]).unsqueeze(1)

    def noise(self, rows: Sequence[int], vocabulary: int) -> Tensor:
        """The noise of these rows for one token, [rows, vocabulary]; every call draws anew."""
        noise = torch.zeros(len(rows), vocabulary)
        for place, row in enumerate(rows):
            if self._noisy[row]:
                noise[place].exponential_(generator=self._generators[row]).clamp_(min=_LEAST).log_().neg_()
        return noise

    def pick(self, rows: Sequence[int], logits: Tensor, noise: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of logits and noise, [rows, vocabulary] each: the tokens, their log-probabilities, and which are close calls.

        A close call could have gone the other way had the logits been rounded otherwise. Log-probabilities are
        natural, of the distribution that was sampled from.
        """
        scaled = logits / self._temperature[rows]
        top_p = self._top_p[rows]
        kept = loose = tight = scaled
        if bool((top_p < 1).any()):
            kept, loose, tight = (torch.where(top_p < 1, nucleus, scaled) for nucleus in _nuclei(scaled, top_p))
        first, second = (loose + noise).topk(2, dim=-1).values.unbind(-1)
        close = (first - second < _CLOSE_CALL) | ((loose + noise).argmax(-1) != (tight + noise).argmax(-1))
        tokens = (kept + noise).argmax(-1)
        logprobs = kept.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
        return tokens, logprobs, close


def _nuclei(scaled: Tensor, top_p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The likeliest tokens that hold `top_p` of the probability, the rest at -inf; and those of a wider, a closer cut.

    A token stays while less than `top_p` lies before it, as in Holtzman et al. 2020, arXiv:1904.09751.
    """
    ordered, places = scaled.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(-1)
    before = probabilities.cumsum(-1) - probabilities
    before[:, 0] = 0.0

    def cut(at: Tensor) -> Tensor:
        outside = before >= at
        return scaled.masked_fill(torch.empty_like(outside).scatter(-1, places, outside), -torch.inf)

    least = torch.full_like(top_p, _LEAST)
    return cut(top_p), cut(top_p + _CLOSE_TO_CUT), cut(torch.maximum(top_p - _CLOSE_TO_CUT, least))
