"""Traffic: one served request as it is kept for mining, training mixes and billing."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from rl_gym.gym.core import RewardBreakdown
from rl_gym.wire.cost import Cost, Usage
from rl_gym.wire.generate import Mode
from rl_gym.wire.message import Completion, Message, Name, RequestText, ResourceType
from rl_gym.wire.model import ServedModel

__all__ = ["TrafficRow"]


class TrafficRow(Message):
    """One answer of one column. Text is stored scrubbed of secrets.

    `author` tells who wrote the completion: only `model` may ever train as the model's own, and only with `consent`.
    """

    request_id: str = Field(min_length=1, max_length=64)
    time: AwareDatetime
    environment: Name
    request: RequestText
    required: list[ResourceType] = Field(default_factory=list, max_length=64)
    mode: Mode
    model: ServedModel
    author: Literal["model", "external", "fixer"]
    completion: Completion
    breakdown: RewardBreakdown = Field(description="Of the answer that was served")
    first_reward: float = Field(ge=-1, le=1, description="Of the first pass: what the model did without repair")
    usage: Usage
    cost: Cost | None = None
    consent: bool = Field(strict=True, description="Whether the caller lets it be used beyond serving")
