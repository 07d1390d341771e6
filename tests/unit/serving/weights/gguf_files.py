"""A GGUF file of the packaged nano model, written as llama.cpp writes Llamas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from safetensors.numpy import load_file

from rl_gym.serving.weights import PACKAGED

__all__ = ["NANO", "write_gguf"]

NANO = PACKAGED / "nano"


def write_gguf(path: Path, *, architecture: str = "llama", without: str = "nothing") -> Path:
    """`without` leaves out the tensors whose names contain it."""
    config = json.loads((NANO / "config.json").read_text())
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    _add_tokenizer(writer)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, tensor in load_file(NANO / "model.safetensors").items():
        if without not in name:
            called = names.get_name(name, try_suffixes=(".weight",))
            assert called is not None
            writer.add_tensor(called, _permuted(name, tensor.astype(np.float32), config))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _permuted(name: str, tensor: Any, config: dict[str, Any]) -> Any:
    """Queries and keys are kept with the two halves of each head's rotation side by side."""
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
    for part, count in heads.items():
        if part in name:
            halves = tensor.reshape(count, 2, tensor.shape[0] // count // 2, tensor.shape[1])
            return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(tensor.shape))
    return tensor


def _add_tokenizer(writer: gguf.GGUFWriter) -> None:
    model = json.loads((NANO / "tokenizer.json").read_text())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(
        [gguf.TokenType.CONTROL if number < 2 else gguf.TokenType.NORMAL for number in range(len(tokens))]
    )
    writer.add_token_merges([" ".join(pair) for pair in model["merges"]])
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(0)
