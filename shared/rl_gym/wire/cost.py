"""What an answer took, and what that costs, with the basis of the figure."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rl_gym.wire.message import Count, Reply

__all__ = ["Cost", "Usage"]


class Usage(Reply):
    """Tokens in, tokens out, and the time they took."""

    prompt_tokens: Count
    completion_tokens: Count
    seconds: float = Field(ge=0, description="Wall-clock, of the engine")


class Cost(Reply):
    """US dollars: seconds of a GPU at a price an hour, or tokens at prices a million."""

    usd: float = Field(ge=0)
    basis: Literal["gpu_seconds", "tokens"]
    gpu_seconds: float | None = Field(
        default=None, ge=0, description="The answer's share of the time that the engine worked on anything"
    )
    gpu_hour_usd: float | None = Field(default=None, ge=0)
    prompt_million_usd: float | None = Field(default=None, ge=0)
    completion_million_usd: float | None = Field(default=None, ge=0)
