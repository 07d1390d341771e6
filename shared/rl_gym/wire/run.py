"""Runs: what to train, how far it has come, and what happened on the way."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from rl_gym.wire.error import ErrorBody
from rl_gym.wire.message import Count, Digest, FullDigest, Line, Message, Name, Reply, Seed
from rl_gym.wire.model import Model

__all__ = [
    "ENDED",
    "LOG",
    "ArtifactsResponse",
    "EventsResponse",
    "LiveProgress",
    "ModelsResponse",
    "Run",
    "RunEvent",
    "RunMode",
    "RunSpec",
    "RunState",
    "RunsResponse",
    "StageProgress",
    "StageStatus",
    "live_event",
]

RunMode = Literal["pipeline", "eval-only", "bakeoff", "mine", "repair", "flywheel", "drift"]
RunState = Literal["waiting", "running", "done", "failed", "cancelled", "dead"]

ENDED: tuple[RunState, ...] = ("done", "failed", "cancelled", "dead")
"""The states in which nothing happens any more, unless somebody asks for it."""

LOG = "log.txt"
"""A file of every stage that an attempt was made at, ended or not: the end of what its processes printed."""

Override = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.]*=", max_length=1_000)]


class RunSpec(Message):
    """What to run. The same spec under the same key is the same run."""

    preset: Name
    overrides: list[Override] = Field(default_factory=list, max_length=200, description='As in "grpo.steps=10"')
    seed: Seed | None = Field(default=None, description="None takes the preset's")
    mode: RunMode = "pipeline"
    idempotency_key: str | None = Field(default=None, pattern=r"^[ -~]+$", max_length=200)


class StageProgress(Reply):
    """How far a stage has come."""

    step: Count
    steps: Count
    reward: float | None = Field(default=None, description="Mean of the latest step, where the stage has one")
    seconds_left: float | None = Field(default=None, ge=0)


class LiveProgress(Reply):
    """How far an attempt at a stage is at this moment; what is kept of it follows with the worker's next heartbeat."""

    stage: Name
    attempt: Count
    progress: StageProgress


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
    stage: Name | None = Field(default=None, description="None where it happened to the run as a whole")
    state: RunState
    progress: StageProgress | None = None
    detail: Line = ""


class RunsResponse(Reply):
    """Runs, the newest first."""

    runs: list[Run]


class EventsResponse(Reply):
    """What happened in a run, in order, and the state that it was in no later than the last of these."""

    state: RunState
    events: list[RunEvent]
    live: LiveProgress | None = Field(default=None, description="Of the stage at work, where its worker just said so")


class ModelsResponse(Reply):
    """Models that runs have made, the newest first."""

    models: list[Model]


class ArtifactsResponse(Reply):
    """The files that a stage has ended with."""

    run: Name
    stage: Name
    digest: FullDigest = Field(description="Of the stage's manifest")
    files: dict[str, FullDigest] = Field(description="SHA-256 by name, relative to the stage's folder")


def live_event(run: str, after: int, live: LiveProgress) -> RunEvent:
    """How far a stage is now, as an event under the number of the last that is kept: no reader misses one by it."""
    now = datetime.now(UTC)
    return RunEvent(run=run, number=after, time=now, stage=live.stage, state="running", progress=live.progress)
