"""The weights and tokenizer of a causal model in this process: loading them, text to tokens, tokens to text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rl_gym.infra.errors import NotFoundError, UsageError, one_line
from rl_gym.serving.chat import prompt_tokens

__all__ = ["CausalModel"]

_REASON_CHARACTERS = 300


class CausalModel:
    """A causal model in float32, its tokenizer, and the most tokens that prompt and completion may have together."""

    def __init__(self, folder: Path | str) -> None:
        """Load weights (safetensors only) and tokenizer from `folder`.

        Raises NotFoundError where no model lies there, UsageError where it cannot be loaded.
        """
        folder = Path(folder)
        if not (folder / "config.json").is_file():
            raise NotFoundError(f"no model in {folder}: config.json is missing")
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        # Its bars and hints would land in the middle of whatever the caller prints; errors are raised.
        logging.disable_progress_bar()
        logging.set_verbosity_error()
        try:
            self.network: Any = AutoModelForCausalLM.from_pretrained(
                folder, dtype=torch.float32, local_files_only=True, use_safetensors=True, trust_remote_code=False
            )
            self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except (OSError, ValueError) as error:
            reason = one_line(str(error).strip().partition("\n")[0], _REASON_CHARACTERS)
            raise UsageError(f"the model in {folder} cannot be loaded: {reason}") from error
        self.network.eval()
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.folder = folder
        self.context: int = self.network.config.max_position_embeddings

    def encode(self, prompt: str) -> list[int]:
        """The tokens of a prompt, in the tokenizer's chat template where it has one."""
        return prompt_tokens(self.tokenizer, prompt)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens, without the special ones."""
        text: str = self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text
