"""The two ways to ask by the OpenAI protocol: as a user's message of a chat, and as a raw prompt."""

from __future__ import annotations

from typing import Any, Literal

from rl_gym.serving.backends.seeds import sample_seed
from rl_gym.serving.sampling import Sampling

__all__ = ["PATHS", "Dialect", "body", "prompt_fields"]

Dialect = Literal["chat", "completions"]

PATHS: dict[Dialect, str] = {"chat": "/v1/chat/completions", "completions": "/v1/completions"}
_SEED_BITS = 31


def prompt_fields(dialect: Dialect, prompt: str) -> dict[str, Any]:
    """Where the prompt stands: of a chat it is the one message, which the engine sets into the model's template."""
    if dialect == "chat":
        return {"messages": [{"role": "user", "content": prompt}]}
    return {"prompt": prompt}


def body(dialect: Dialect, prompt: str, sampling: Sampling, model: str, *, stream: bool) -> dict[str, Any]:
    """What is sent. Each prompt has a seed of its own, so that samples of different prompts are independent."""
    fields: dict[str, Any] = {
        "model": model,
        **prompt_fields(dialect, prompt),
        "n": sampling.n,
        "max_tokens": sampling.max_tokens,
    }
    if sampling.greedy:
        fields["temperature"] = 0
    else:
        seed = sample_seed(sampling.seed, prompt, bits=_SEED_BITS)
        fields |= {"temperature": sampling.temperature, "top_p": sampling.top_p, "seed": seed}
    if sampling.logprobs:
        fields["logprobs"] = True if dialect == "chat" else 1
    if stream:
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
    return fields
