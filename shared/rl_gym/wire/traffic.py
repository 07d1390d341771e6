"""Traffic: one served request as it is kept for mining, training mixes and billing, and what many of them come to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, ValidationError, model_validator

from rl_gym.gym.core import RewardBreakdown
from rl_gym.infra.errors import UsageError
from rl_gym.wire.cost import Cost, Usage
from rl_gym.wire.generate import Mode
from rl_gym.wire.message import Completion, Count, Message, Name, RequestText, ResourceType, refusal, unique
from rl_gym.wire.model import ServedModel

__all__ = ["MAX_MIX_BYTES", "MAX_MIX_ROWS", "Author", "MixRow", "TrafficRow", "read_mix"]

MAX_MIX_BYTES = 64 << 20
MAX_MIX_ROWS = 100_000

Author = Literal["model", "external", "fixer"]
"""Who wrote an answer: the model that serves, an outside model, or the fixers over what either wrote."""


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
    author: Author
    completion: Completion
    breakdown: RewardBreakdown = Field(description="Of the answer that was served")
    first_reward: float = Field(ge=-1, le=1, description="Of the first pass: what the model did without repair")
    usage: Usage
    cost: Cost | None = None
    consent: bool = Field(strict=True, description="Whether the caller lets it be used beyond serving")


class MixRow(Message):
    """All requests of the same words and types, of callers who let them be used: what a training mix is made of.

    `sources` counts their answers by who wrote them. An answer itself is there at most once, with its author: what an
    outside model or a fixer wrote never trains as the model's own.
    """

    environment: Name
    request: RequestText
    required: Annotated[list[ResourceType], AfterValidator(unique)] = Field(default_factory=list, max_length=64)
    count: Annotated[Count, Field(ge=1, description="How often it was asked")]
    sources: Annotated[dict[Author, Count], Field(min_length=1, description="Answers by who wrote them")]
    first_reward: float | None = Field(
        default=None, ge=-1, le=1, description="Mean of the model's first passes, where it answered"
    )
    episode: Name | None = Field(default=None, description="The generated episode that was asked, where it was one")
    answer: Completion | None = Field(default=None, description="The best answer that was served")
    author: Author | None = Field(default=None, description="Who wrote that")

    @model_validator(mode="after")
    def _author_of_the_answer(self) -> MixRow:
        if (self.answer is None) != (self.author is None):
            raise ValueError("answer and author go together: give both, or neither")
        if self.author is not None and not self.sources.get(self.author):
            raise ValueError(f"the answer is by {self.author!r}, and sources counts none of theirs")
        return self


def read_mix(body: bytes, where: str) -> list[MixRow]:
    """The rows of an aggregated mix, JSON lines, in their order.

    Raises UsageError (`where:line: why`) for a line that is no row, for a mix of more than MAX_MIX_BYTES or
    MAX_MIX_ROWS, and for one with none.
    """
    if len(body) > MAX_MIX_BYTES:
        raise UsageError(f"{where}: {len(body)} bytes of traffic; at most {MAX_MIX_BYTES} are read")
    rows = list(_rows(body, where))
    if not rows:
        raise UsageError(f"{where}: there is no traffic in it")
    return rows


def _rows(body: bytes, where: str) -> Iterator[MixRow]:
    read = 0
    for number, line in enumerate(body.split(b"\n"), start=1):
        if not line.strip():
            continue
        read += 1
        if read > MAX_MIX_ROWS:
            raise UsageError(f"{where}:{number}: more than {MAX_MIX_ROWS} rows of traffic")
        try:
            yield MixRow.model_validate_json(line)
        except ValidationError as error:
            raise UsageError(f"{where}:{number}: {refusal(error)}") from None
