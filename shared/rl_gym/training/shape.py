"""The size of a model from its configuration alone: of what is here as it lies there, of a few on the hub by heart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rl_gym.gym.files import read_document
from rl_gym.infra.errors import UsageError

__all__ = ["KNOWN", "Shape", "read_shape"]

_GATED = ("llama", "granite", "mistral", "qwen2", "qwen3")
"""Architectures that the count of parameters is right for: grouped attention and a gated feed-forward of three."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A decoder of the Llama family; `query_bias` counts the biases that Qwen2 has in attention."""

    layers: int
    hidden: int
    feed_forward: int
    heads: int
    key_value_heads: int
    head_size: int
    vocabulary: int
    context: int
    tied: bool
    query_bias: bool = False

    @property
    def queries(self) -> int:
        """Width of all queries of a layer."""
        return self.heads * self.head_size

    @property
    def keys(self) -> int:
        """Width of all keys of a layer, which is that of its values."""
        return self.key_value_heads * self.head_size

    @property
    def parameters(self) -> int:
        attention = 2 * self.hidden * (self.queries + self.keys)
        bias = (self.queries + 2 * self.keys) if self.query_bias else 0
        layer = attention + bias + 3 * self.hidden * self.feed_forward + 2 * self.hidden
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        return embeddings + self.layers * layer + self.hidden

    def adapter_parameters(self, rank: int) -> int:
        """Those of a LoRA adapter of `rank` over every linear layer but the last: rank x (in + out) each."""
        attention = 2 * (self.hidden + self.queries) + 2 * (self.hidden + self.keys)
        return self.layers * rank * (attention + 3 * (self.hidden + self.feed_forward))


KNOWN: Mapping[str, Shape] = {
    "smol": Shape(30, 576, 1536, 9, 3, 64, 49_152, 8_192, tied=True),
    "hub:HuggingFaceTB/SmolLM2-135M-Instruct": Shape(30, 576, 1536, 9, 3, 64, 49_152, 8_192, tied=True),
    "hub:ibm-granite/granite-4.1-8b": Shape(40, 4096, 12_800, 32, 8, 128, 100_352, 131_072, tied=True),
    "hub:Qwen/Qwen2.5-7B-Instruct": Shape(28, 3584, 18_944, 28, 4, 128, 152_064, 32_768, tied=False, query_bias=True),
}
"""Models that presets name and that need not be here to plan with them: the figures that their makers publish."""


def read_shape(folder: Path) -> Shape:
    """The shape that `config.json` tells; UsageError for a configuration that no estimate can be made from."""
    path = folder / "config.json"
    document = read_document(path)
    kind = document.get("model_type")
    if kind not in _GATED:
        raise UsageError(f"{path}: no estimate for models of type {kind!r} (known: {', '.join(_GATED)})")
    hidden, heads = _count(document, path, "hidden_size"), _count(document, path, "num_attention_heads")
    return Shape(
        layers=_count(document, path, "num_hidden_layers"),
        hidden=hidden,
        feed_forward=_count(document, path, "intermediate_size"),
        heads=heads,
        key_value_heads=_count(document, path, "num_key_value_heads", heads),
        head_size=_count(document, path, "head_dim", hidden // heads),
        vocabulary=_count(document, path, "vocab_size"),
        context=_count(document, path, "max_position_embeddings"),
        tied=bool(document.get("tie_word_embeddings")),
        query_bias=kind == "qwen2",
    )


def _count(document: Mapping[str, Any], path: Path, key: str, otherwise: int | None = None) -> int:
    value = document.get(key)
    value = otherwise if value is None else value
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= 1 << 24:
        raise UsageError(f"{path}: {key} must be a positive number, not {value!r}")
    return value
