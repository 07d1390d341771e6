"""LoRA adapters of the packaged nano model: trained for a moment, or made to do nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from rl_gym.serving.weights import find_model
from tests.vllm.engines import MODEL

__all__ = ["make_adapter"]

_STEPS = 30


def make_adapter(folder: Path, prompts: Sequence[str], answer: str = "", rank: int = 8) -> Path:
    """An adapter that was taught to give one answer to these prompts; without an answer it changes nothing."""
    torch.manual_seed(0)
    path = find_model(MODEL)
    tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    base = AutoModelForCausalLM.from_pretrained(path, local_files_only=True, dtype=torch.float32)
    config = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")
    model = get_peft_model(base, config)
    if answer:
        texts = [prompt + answer for prompt in prompts]
        batch = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False)
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        optimizer = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad], lr=1e-2)
        for _ in range(_STEPS):
            model(**batch, labels=labels).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    model.save_pretrained(folder)
    return folder
