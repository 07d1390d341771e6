"""vLLM: an engine of our own behind the OpenAI protocol, which can be given adapters while it runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.serving.backends.openai import OpenAIBackend
from rl_gym.serving.backends.openai.backend import Prompt
from rl_gym.serving.backends.openai.bodies import read_whole
from rl_gym.serving.backends.openai.dialects import Dialect, prompt_fields
from rl_gym.serving.backends.openai.faults import NoRouteError
from rl_gym.serving.backends.openai.transport import Request
from rl_gym.serving.backends.protocol import PromptTooLongError

__all__ = ["VllmBackend"]

_TEMPLATE_TOKENS = 1024
"""More than a chat template adds to a prompt."""
_MISFIT = re.compile(r"rank|lora|adapter|shape", re.IGNORECASE)


class _Tokenized(BaseModel):
    count: int = Field(ge=0)
    max_model_len: int = Field(ge=1)


class VllmBackend(OpenAIBackend):
    """vLLM: our own, so that a lost request costs nothing to repeat.

    vLLM shortens `max_tokens` without a word to what the prompt leaves of the context. A prompt that might be too
    long is therefore counted by vLLM's tokenizer first, and refused where it leaves less.
    """

    engine = "vllm"

    def __init__(self, address: str, *, paid: bool = False, **options: Any) -> None:
        """As OpenAIBackend."""
        super().__init__(address, paid=paid, **options)
        self._fields = {"return_token_ids": True} | self._fields
        self._contexts: dict[str, int] = {}

    async def load(self, name: str, folder: Path) -> None:
        """Answer to `name` with the LoRA adapter in `folder`, a path of vLLM's own machine or container.

        vLLM keeps what it computed with other weights of the same name: give new weights a new name. Raises
        UsageError where vLLM takes no such adapter or was not started to take any, and for a whole model.
        """
        if (folder / "config.json").is_file():
            raise UsageError(
                f"{folder} holds a whole model: vLLM takes adapters alone while it runs, start it with that"
            )
        wanted = {"lora_name": name, "lora_path": str(folder), "load_inplace": True}
        try:
            await self._transport.call(Request("/v1/load_lora_adapter", wanted), read_whole, repeatable=lambda: False)
        except NoRouteError:
            raise UsageError(
                f"{self._transport.who} takes no adapters while it runs: start it with --enable-lora and "
                "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"
            ) from None
        except InfrastructureError as error:
            # vLLM answers 500 for adapters that it cannot take, such as one of too large a rank.
            if "(500)" in str(error) and _MISFIT.search(str(error).partition("(500)")[2]):
                raise UsageError(f"the adapter {name} cannot be loaded: {error}") from error
            raise

    async def unload(self, name: str) -> None:
        try:
            await self._transport.call(Request("/v1/unload_lora_adapter", {"lora_name": name}), read_whole)
        except NotFoundError:
            return

    async def _check(self, dialect: Dialect, prompt: Prompt) -> None:
        room = prompt.sampling.max_tokens
        # A token is at least a byte of the prompt.
        most = len(prompt.text.encode("utf-8", "replace")) + (_TEMPLATE_TOKENS if dialect == "chat" else 1)
        if most + room <= self._contexts.get(prompt.model, 0):
            return
        fields = {"model": prompt.model, **prompt_fields(dialect, prompt.text)}
        asked = Request("/tokenize", fields, room, harmless=True)
        try:
            content = await self._transport.call(asked, read_whole)
        except NoRouteError:
            # A gateway before vLLM that does not let it through.
            return
        try:
            tokens = _Tokenized.model_validate_json(content)
        except ValidationError:
            raise InfrastructureError(f"{self._transport.who} did not count the tokens of a prompt") from None
        self._contexts[prompt.model] = tokens.max_model_len
        if tokens.count + room > tokens.max_model_len:
            raise PromptTooLongError(
                f"prompt {prompt.number} does not fit: {tokens.count} tokens, {room} to generate, "
                f"a context of {tokens.max_model_len}",
                tokens.count,
                max(0, tokens.max_model_len - room),
            )
