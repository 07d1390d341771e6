"""A causal model in this process: what training evaluates with, whole batches at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rl_gym.infra.errors import UsageError
from rl_gym.serving.causal import CausalModel
from rl_gym.serving.sampling import Sample, Sampling

__all__ = ["LocalModel"]


class LocalModel:
    """A local causal model, run in this process by `transformers` in float32, on the GPU where there is one.

    Sequences are batched by prompt length, at most `batch_size` of them at once. Reproducible for the same prompts in
    the same order with the same `batch_size`; greedy completions do not depend on the batch.
    """

    def __init__(self, folder: Path | str, *, batch_size: int = 128, adapter: Path | str | None = None) -> None:
        """Load weights (safetensors only) and tokenizer from `folder`, and write `adapter`, if any, into the weights.

        Raises NotFoundError where no model lies there, UsageError for an adapter that does not fit it.
        """
        if batch_size < 1:
            raise UsageError(f"local model: batch_size must be at least 1, not {batch_size}")
        self._model = CausalModel(folder)
        self._batch_size = batch_size
        if adapter is not None:
            from rl_gym.serving.backends.lora import Adapters

            adapters = Adapters(self._model.network)
            self._model.network = adapters.merge(adapters.add(Path(adapter)))
        import torch

        if torch.cuda.is_available():
            self._model.network.to("cuda")

    def complete(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[list[Sample]]:
        """`sampling.n` samples for every prompt; `progress` is told how many prompts each finished batch held.

        Raises UsageError for a prompt that the model cannot take. The same prompts and sampling give the same samples.
        """
        encoded = [self._model.encode(prompt) for prompt in prompts]
        for number, tokens in enumerate(encoded):
            if not tokens:
                raise UsageError(f"prompt {number} is empty")
            if len(tokens) + sampling.max_tokens > self._model.context:
                raise UsageError(
                    f"prompt {number} does not fit: {len(tokens)} tokens, {sampling.max_tokens} to generate, "
                    f"a context of {self._model.context}"
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
        return 0 < len(self._model.encode(prompt)) <= self._model.context - sampling.max_tokens

    def _generate(self, prompts: list[list[int]], sampling: Sampling, seed: int) -> list[Sample]:
        import torch
        from transformers import GenerationConfig

        network, tokenizer = self._model.network, self._model.tokenizer
        batch = tokenizer.pad({"input_ids": prompts}, return_tensors="pt").to(network.device)
        how = (
            {"do_sample": False}
            if sampling.greedy
            else {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
        )
        config = GenerationConfig(
            max_new_tokens=sampling.max_tokens,
            num_return_sequences=sampling.n,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            return_dict_in_generate=True,
            output_scores=sampling.logprobs,
            **how,
        )
        torch.manual_seed(seed)
        with torch.inference_mode():
            output = network.generate(**batch, generation_config=config)
        width = batch["input_ids"].shape[1]
        scores = None
        if sampling.logprobs:
            scores = network.compute_transition_scores(output.sequences, output.scores, normalize_logits=True).tolist()
        rows: list[list[int]] = output.sequences[:, width:].tolist()
        return [self._sample(row, scores[number] if scores else None) for number, row in enumerate(rows)]

    def _sample(self, row: list[int], scores: list[float] | None) -> Sample:
        end = self._model.tokenizer.eos_token_id
        stopped = end in row
        tokens = row[: row.index(end) + 1] if stopped else row
        logprobs = tuple(scores[: len(tokens)]) if scores else None
        return Sample(self._model.decode(tokens), len(tokens), "stop" if stopped else "length", logprobs)
