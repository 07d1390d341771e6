"""How a prompt is put to a model: as the user's message where its tokenizer has a chat template, else as it stands.

Training, evaluation and the embedded engine all go by this, so that a model is asked as it was taught.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Turn", "prompt_tokens", "training_completion", "training_prompt"]

Turn = str | list[dict[str, str]]
"""A text, or the messages of a conversation: TRL takes either, and renders messages by the template."""


def prompt_tokens(tokenizer: Any, prompt: str) -> list[int]:
    """The tokens that a model is given before it answers. An empty prompt stays one."""
    turn = training_prompt(tokenizer, prompt)
    plain = not prompt or isinstance(turn, str)
    text = prompt if plain else tokenizer.apply_chat_template(turn, add_generation_prompt=True, tokenize=False)
    # A template has written whatever special tokens belong there.
    tokens: list[int] = tokenizer(text, add_special_tokens=plain)["input_ids"]
    return tokens


def training_prompt(tokenizer: Any, prompt: str) -> Turn:
    """A prompt for a row of TRL's, which makes the same tokens of it as `prompt_tokens`."""
    return [{"role": "user", "content": prompt}] if tokenizer.chat_template else prompt


def training_completion(tokenizer: Any, completion: str) -> Turn:
    """The answer to such a prompt, for a row of TRL's."""
    return [{"role": "assistant", "content": completion}] if tokenizer.chat_template else completion
