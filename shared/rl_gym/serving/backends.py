"""Model engines behind one protocol: prompts in, samples out. Evaluation, the demo and services speak to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from rl_gym.infra.errors import NotFoundError, UsageError

__all__ = ["MAX_SAMPLES", "MAX_TOKENS", "FinishReason", "ModelBackend", "Sample", "Sampling", "TransformersBackend"]

FinishReason = Literal["stop", "length"]

MAX_SAMPLES = 256
MAX_TOKENS = 16_384


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample: `n` completions a prompt, each of at most `max_tokens` tokens.

    `greedy` takes the likeliest token each time (temperature, top_p and seed are then unused) and needs `n` to be 1.
    `logprobs` asks for the log-probability of every sampled token under the sampling distribution.
    """

    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0
    greedy: bool = False
    logprobs: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.n <= MAX_SAMPLES:
            raise UsageError(f"sampling: n must lie in 1..{MAX_SAMPLES}, not {self.n}")
        if not 1 <= self.max_tokens <= MAX_TOKENS:
            raise UsageError(f"sampling: max_tokens must lie in 1..{MAX_TOKENS}, not {self.max_tokens}")
        if not (math.isfinite(self.temperature) and 0 < self.temperature <= 10):
            raise UsageError(f"sampling: temperature must lie in (0, 10], not {self.temperature}; use greedy for 0")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"sampling: top_p must lie in (0, 1], not {self.top_p}")
        if self.greedy and self.n != 1:
            raise UsageError(f"sampling: greedy gives one completion a prompt, but n is {self.n}")


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion. `tokens` counts what the model produced, its end token included.

    `finish_reason` is "stop" where the model ended by itself and "length" where `max_tokens` cut it.
    """

    text: str
    tokens: int
    finish_reason: FinishReason
    logprobs: tuple[float, ...] | None = None


class ModelBackend(Protocol):
    """An engine that completes prompts; the order of prompts and samples is kept."""

    def complete(self, prompts: Sequence[str], sampling: Sampling) -> list[list[Sample]]:
        """`sampling.n` samples for every prompt.

        Raises UsageError for what the model cannot take (an over-long prompt) and InfrastructureError for a fault of
        the engine. The same prompts and sampling give the same samples.
        """
        ...


class TransformersBackend:
    """A local causal model, run in this process by `transformers` in float32.

    Sequences are batched by prompt length, at most `batch_size` of them at once. Reproducible for the same prompts in
    the same order with the same `batch_size`; greedy completions do not depend on the batch.
    """

    def __init__(self, folder: Path | str, *, batch_size: int = 128) -> None:
        """Load weights (safetensors only) and tokenizer from `folder`; NotFoundError where no model lies there."""
        folder = Path(folder)
        if not (folder / "config.json").is_file():
            raise NotFoundError(f"no model in {folder}: config.json is missing")
        if batch_size < 1:
            raise UsageError(f"backend: batch_size must be at least 1, not {batch_size}")
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        # Its bars and hints would land in the middle of whatever the caller prints; errors are raised.
        logging.disable_progress_bar()
        logging.set_verbosity_error()
        try:
            self._model: Any = AutoModelForCausalLM.from_pretrained(
                folder, dtype=torch.float32, local_files_only=True, use_safetensors=True, trust_remote_code=False
            )
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise UsageError(f"the model in {folder} cannot be loaded: {reason}") from error
        self._model.eval()
        self._tokenizer.padding_side = "left"
        self._batch_size = batch_size
        self._context: int = self._model.config.max_position_embeddings

    def complete(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[list[Sample]]:
        """See `ModelBackend.complete`; `progress` is told how many prompts each finished batch held."""
        encoded = [self._encode(prompt) for prompt in prompts]
        for number, tokens in enumerate(encoded):
            if not tokens:
                raise UsageError(f"prompt {number} is empty")
            if len(tokens) + sampling.max_tokens > self._context:
                raise UsageError(
                    f"prompt {number} does not fit: {len(tokens)} tokens, {sampling.max_tokens} to generate, "
                    f"a context of {self._context}"
                )
        order = sorted(range(len(prompts)), key=lambda number: (len(encoded[number]), number))
        width = max(1, self._batch_size // sampling.n)
        results: list[list[Sample]] = [[] for _ in prompts]
        for batch, start in enumerate(range(0, len(order), width)):
            chosen = order[start : start + width]
            samples = self._generate([encoded[number] for number in chosen], sampling, sampling.seed + batch)
            for position, number in enumerate(chosen):
                results[number] = samples[position * sampling.n : (position + 1) * sampling.n]
            if progress is not None:
                progress(len(chosen))
        return results

    def fits(self, prompt: str, sampling: Sampling) -> bool:
        """Whether prompt and completion fit the model's context."""
        return 0 < len(self._encode(prompt)) <= self._context - sampling.max_tokens

    def _encode(self, prompt: str) -> list[int]:
        tokens: list[int] = self._tokenizer(prompt)["input_ids"]
        return tokens

    def _generate(self, prompts: list[list[int]], sampling: Sampling, seed: int) -> list[Sample]:
        import torch
        from transformers import GenerationConfig

        batch = self._tokenizer.pad({"input_ids": prompts}, return_tensors="pt")
        how = (
            {"do_sample": False}
            if sampling.greedy
            else {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
        )
        config = GenerationConfig(
            max_new_tokens=sampling.max_tokens,
            num_return_sequences=sampling.n,
            pad_token_id=self._tokenizer.pad_token_id,
            eos_token_id=self._tokenizer.eos_token_id,
            return_dict_in_generate=True,
            output_scores=sampling.logprobs,
            **how,
        )
        torch.manual_seed(seed)
        with torch.inference_mode():
            output = self._model.generate(**batch, generation_config=config)
        width = batch["input_ids"].shape[1]
        scores = None
        if sampling.logprobs:
            scores = self._model.compute_transition_scores(
                output.sequences, output.scores, normalize_logits=True
            ).tolist()
        rows: list[list[int]] = output.sequences[:, width:].tolist()
        return [self._sample(row, scores[number] if scores else None) for number, row in enumerate(rows)]

    def _sample(self, row: list[int], scores: list[float] | None) -> Sample:
        end = self._tokenizer.eos_token_id
        stopped = end in row
        tokens = row[: row.index(end) + 1] if stopped else row
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        logprobs = tuple(scores[: len(tokens)]) if scores else None
        return Sample(text, len(tokens), "stop" if stopped else "length", logprobs)
