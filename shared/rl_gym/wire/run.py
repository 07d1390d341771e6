"""Runs: what to train, how far it has come, and what happened on the way."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from rl_gym.wire.error import ErrorBody
from rl_gym.wire.message import Count, Digest, Line, Message, Name, Reply, Seed

__all__ = ["Run", "RunEvent", "RunMode", "RunSpec", "RunState", "StageProgress", "StageStatus"]

RunMode = Literal["pipeline", "eval-only", "bakeoff", "mine", "repair", "flywheel", "drift"]
RunState = Literal["waiting", "running", "done", "failed", "cancelled", "dead"]

Override = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.]*=", max_length=1_000)]


class RunSpec(Message):
    """What to run. The same spec under the same key is the same run."""

    preset: Name
    overrides: list[Override] = Field(default_factory=list, max_length=200, description='As in "grpo.steps=10"')
    seed: Seed | None = Field(default=None, description="None takes the preset's")
    mode: RunMode = "pipeline"
    idempotency_key: str | None = Field(default=None, min_length=1, max_length=200)


class StageProgress(Reply):
    """How far a stage has come."""

    step: Count
    steps: Count
    reward: float | None = Field(default=None, description="Mean of the latest step, where the stage has one")
    seconds_left: float | None = Field(default=None, ge=0)


class StageStatus(Reply):
    """One stage of a run. `dead` is a stage that failed as often as it may and waits for a person."""

    stage: Name
    state: RunState
    attempt: Count = Field(description="From 1; 0 before the first")
    started: AwareDatetime | None = None
    ended: AwareDatetime | None = None
    progress: StageProgress | None = None
    manifest_digest: Digest | None = Field(default=None, description="Of the artifacts, once the stage is done")
    error: ErrorBody | None = None


class Run(Reply):
    """A run and its stages in order."""

    id: Name
    spec: RunSpec
    state: RunState
    created: AwareDatetime
    stages: list[StageStatus]


class RunEvent(Reply):
    """Something that happened in a run; `number` rises, so that a reader can go on where it stopped."""

    run: Name
    number: Count
    time: AwareDatetime
    stage: Name
    state: RunState
    progress: StageProgress | None = None
    detail: Line = ""
