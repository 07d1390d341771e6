"""Rows of a batch, decoded token by token; each is its own sample, whatever runs beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from tokenizers.decoders import DecodeStream
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

from rl_gym.serving.backends.picking import Picker
from rl_gym.serving.causal import CausalModel
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.wire.complete import FinishReason

__all__ = ["Row", "decode"]


class Row:
    """One sample on its way.

    `wanted` is asked at every token whether anybody still waits for it, `on_text` is told of new text, and `on_end`
    of the sample; all of them are called in the thread that decodes. Tokenizers other than of the library tokenizers
    have their text told at its end.
    """

    def __init__(
        self,
        prompt: Sequence[int],
        sampling: Sampling,
        seed: int,
        *,
        wanted: Callable[[], bool],
        on_end: Callable[[Sample], None],
        on_text: Callable[[str], None] | None = None,
    ) -> None:
        self.prompt, self.sampling, self.seed = prompt, sampling, seed
        self.wanted, self.on_end, self.on_text = wanted, on_end, on_text
        self.tokens: list[int] = []
        self.logprobs: list[float] = []
        self.over = False
        self._told = ""
        self._stream = DecodeStream(skip_special_tokens=True)

    def take(self, token: int, logprob: float, model: CausalModel, ends: frozenset[int]) -> None:
        """Add a token; the row is over where it ends it, where it was the last, or where nobody waits any more."""
        self.tokens.append(token)
        self.logprobs.append(logprob)
        if not self.wanted():
            self.over = True
        elif token in ends or len(self.tokens) == self.sampling.max_tokens:
            self._end("stop" if token in ends else "length", model)
        elif self.on_text is not None and hasattr(model.tokenizer, "backend_tokenizer"):
            self._tell(self._stream.step(model.tokenizer.backend_tokenizer, token) or "")

    def _end(self, reason: FinishReason, model: CausalModel) -> None:
        self.over = True
        text = model.decode(self.tokens)
        self._tell(text[len(self._told) :])
        self.on_end(Sample(text, len(self.tokens), reason, tuple(self.logprobs) if self.sampling.logprobs else None))

    def _tell(self, text: str) -> None:
        if text and self.on_text is not None:
            self._told += text
            self.on_text(text)


def decode(model: CausalModel, ends: frozenset[int], rows: Sequence[Row]) -> None:
    """Take rows to their ends, all at once; `ends` are the tokens that end a completion.

    Batches of different shape round differently, by some millionths of a logit. Where a choice was as close as that,
    its row is run again alone and whole, and the choice is made by what comes of it: samples are the same in every
    company.
    """
    batch = model.tokenizer.pad({"input_ids": [list(row.prompt) for row in rows]}, return_tensors="pt")
    config = GenerationConfig(
        max_new_tokens=max(row.sampling.max_tokens for row in rows),
        do_sample=False,
        use_cache=True,
        pad_token_id=model.tokenizer.pad_token_id,
    )
    with torch.inference_mode():
        model.network.generate(
            **batch,
            generation_config=config,
            logits_processor=LogitsProcessorList([_Choice(model, ends, rows)]),
            stopping_criteria=StoppingCriteriaList([_Over(rows)]),
        )


class _Choice(LogitsProcessor):  # type: ignore[misc]
    """Chooses every row's next token, and leaves `generate` only that one to take."""

    def __init__(self, model: CausalModel, ends: frozenset[int], rows: Sequence[Row]) -> None:
        self._model, self._ends, self._rows = model, ends, rows
        self._picker = Picker([row.sampling for row in rows], [row.seed for row in rows])

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        running = [number for number, row in enumerate(self._rows) if not row.over]
        noise = self._picker.noise(running, scores.shape[-1])
        tokens, logprobs, close = self._picker.pick(running, scores[running], noise)
        for place in close.nonzero().flatten().tolist():
            alone = self._alone(self._rows[running[place]])
            again = self._picker.pick([running[place]], alone, noise[place : place + 1])
            tokens[place], logprobs[place] = again[0][0], again[1][0]
        chosen = torch.full((len(self._rows),), self._model.tokenizer.pad_token_id)
        chosen[running] = tokens
        for number, token, logprob in zip(running, tokens.tolist(), logprobs.tolist(), strict=True):
            self._rows[number].take(token, logprob, self._model, self._ends)
        return torch.full_like(scores, -torch.inf).scatter_(-1, chosen.unsqueeze(-1), 0.0)

    def _alone(self, row: Row) -> Tensor:
        sequence = torch.tensor([[*row.prompt, *row.tokens]])
        logits: Any = self._model.network(input_ids=sequence, use_cache=False, logits_to_keep=1).logits
        last: Tensor = logits[:, -1].float()
        return last


class _Over(StoppingCriteria):  # type: ignore[misc]
    """Which rows are over; a batch ends with its last one."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __call__(self, input_ids: Tensor, scores: object, **_: object) -> Tensor:
        return torch.tensor([row.over for row in self._rows])
