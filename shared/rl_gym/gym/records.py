"""Recorded completions: what a policy answered, what it was worth, and what it looked like, one JSON line each.

Audit and gate read these lines alone, so that an old run can be judged again without its model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from rl_gym.gym.core import RewardBreakdown
from rl_gym.gym.files import replacing
from rl_gym.infra.errors import NotFoundError, UsageError

__all__ = ["MAX_LINE_BYTES", "MAX_RECORDS", "RecordedCompletion", "read", "records_digest", "write"]

MAX_LINE_BYTES = 1 << 20
MAX_RECORDS = 1_000_000


class RecordedCompletion(BaseModel):
    """One completion of one policy for one episode, with its verdict.

    (policy, split, episode_hash, greedy, sample) names it within a file. A completion that could not be scored, by a
    fault of ours, is not recorded: its number is missing from `sample`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    environment: str = Field(description="Name of the environment that judged it")
    split: str = Field(description="Split that the episode belongs to")
    episode_id: str = Field(description="Name of the episode within its split")
    episode_hash: str = Field(description="Content hash of the episode: what pairs policies")
    request: str = Field(description="The request as a person wrote it")
    policy: str = Field(min_length=1, description="Rung of the ladder: random, base, sft, grpo, oracle, ...")
    model: str = Field(default="", description="Digest or name of the weights; empty where no model wrote it")
    sample: int = Field(ge=0, description="Number of the sample within its episode, from 0")
    greedy: bool = Field(description="Decoded without sampling")
    completion: str = Field(description="The text as the policy wrote it")
    completion_tokens: int | None = Field(default=None, ge=0, description="Length in tokens, where tokens were counted")
    finish_reason: Literal["stop", "length"] | None = Field(default=None, description="Why generation ended")
    breakdown: RewardBreakdown = Field(description="Reward, raw components, gates, valid, action, digest")
    checks: dict[str, Literal["pass", "fail", "unknown", "na"]] = Field(
        default_factory=dict, description="Verdict of each named check; empty where nothing parsed"
    )
    canonical: str = Field(
        default="", description="The action with names and order removed; empty where nothing parsed"
    )

    @field_validator("breakdown")
    @classmethod
    def _within_bounds(cls, breakdown: RewardBreakdown) -> RewardBreakdown:
        if not -1.0 <= breakdown.reward <= 1.0:
            raise ValueError(f"reward {breakdown.reward} lies outside [-1, 1]")
        for name, value in breakdown.components.items():
            if value is not None and not 0.0 <= value <= 1.0:
                raise ValueError(f"component {name!r} is {value}, outside [0, 1]")
        return breakdown


def read(path: Path) -> list[RecordedCompletion]:
    """Every record of a JSON-lines file, in order.

    Raises NotFoundError for a file that is not there, UsageError (`file:line: why`) for a line that is no record, for
    one longer than MAX_LINE_BYTES, for more than MAX_RECORDS, and for a file with none.
    """
    records = list(_parse(path))
    if not records:
        raise UsageError(f"{path}: no recorded completions in it")
    return records


def _parse(path: Path) -> Iterator[RecordedCompletion]:
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise UsageError(f"{path}:{number}: longer than {MAX_LINE_BYTES} bytes, no recorded completion")
                if number > MAX_RECORDS:
                    raise UsageError(f"{path}: more than {MAX_RECORDS} lines")
                if line.strip():
                    yield _record(line, f"{path}:{number}")
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _record(line: bytes, where: str) -> RecordedCompletion:
    try:
        return RecordedCompletion.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{where}: {f'{field}: ' if field else ''}{first['msg']}") from None


def write(path: Path, records: Iterable[RecordedCompletion]) -> None:
    """Write records as JSON lines: the whole file appears at once, or the old one stays.

    Raises InfrastructureError where the disk refuses (full, read-only).
    """
    with replacing(path) as file:
        for record in records:
            file.write(record.model_dump_json().encode() + b"\n")


def records_digest(records: Iterable[RecordedCompletion]) -> str:
    """SHA-256, in hex, of records as they are written, whatever their order in a file."""
    lines = sorted(record.model_dump_json() for record in records)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
