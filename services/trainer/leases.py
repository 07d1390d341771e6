"""What may become of a run: its stages as a state machine, without any input or output.

    waiting --claim--> running --finish--> done
       ^                  |
       +---- put back ----+--the last attempt--> dead      (a fault of ours, or a worker that fell silent)
       |                  +--a user's mistake--> failed    (another attempt would fail as well)
       |                  +--the run is cancelled--> cancelled
       +------------ retry of what is dead or failed

A claim makes a lease: until its deadline, which heartbeats move, nobody else can have the stage. It is known by its
token, the number of the attempt; with any but the present token nothing is accepted any more. So a stage is done
once, by an attempt that nobody had taken the place of. Who calls these functions holds the lock of the run's row, and
of the resource's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from rl_gym.infra.errors import ConflictError, NotFoundError
from rl_gym.wire.error import ErrorBody
from rl_gym.wire.run import RunState, StageProgress
from services.trainer.models import EventRow, ResourceRow, RunRow, StageRow

__all__ = [
    "Lease",
    "LeaseLostError",
    "Terms",
    "begin",
    "cancel",
    "claim",
    "expire",
    "fail",
    "finish",
    "give_back",
    "heartbeat",
    "held",
    "retry",
    "stage_of",
]

_ENDED: tuple[RunState, ...] = ("dead", "failed", "cancelled")
_PAUSE_GROWS = 4


class LeaseLostError(ConflictError):
    """What an attempt says is not accepted, since its lease has expired or the stage has ended: it should stop."""

    code = "lease_lost"


@dataclass(frozen=True)
class Terms:
    """How long leases are, how often a stage may be tried, and after which pauses; in seconds."""

    lease_seconds: float = 45
    attempts: int = 4
    retry_seconds: float = 15
    """The pause after a first failure; each further one is four times as long."""

    resend_seconds: float = 60
    """After this, whoever should have claimed a stage is told again."""

    open_runs: int = 1_000
    """The most runs that wait or run at a time."""

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    def pause(self, failures: int) -> timedelta:
        """The pause after so many failures, from 1."""
        return timedelta(seconds=self.retry_seconds * _PAUSE_GROWS ** min(failures - 1, 8))


@dataclass(frozen=True)
class Lease:
    """The right of one attempt to work on a stage, while it is kept alive."""

    run: str
    stage: str
    owner: str
    token: int
    seconds: float
    resource_token: int | None = None
    """The fencing token of the stage's resource, where it has one."""


def begin(run: RunRow, now: datetime) -> None:
    """The first event of a new run."""
    _tell(run, None, run.state, now, "submitted")


def claim(
    run: RunRow, stage: StageRow, resource: ResourceRow | None, *, owner: str, now: datetime, terms: Terms
) -> Lease | None:
    """Take a stage that waits, whose turn it is, and whose resource is free; None where it is not so."""
    if stage.state != "waiting" or (stage.not_before and stage.not_before > now) or not _is_next(run, stage):
        return None
    if resource is not None:
        if resource.run_id is not None:
            # It was told too early; it is told again as soon as the resource is free.
            stage.sent = None
            return None
        resource.token += 1
        resource.run_id, resource.position = run.id, stage.position
    stage.state, stage.owner, stage.deadline = "running", owner, now + terms.lease
    stage.attempt += 1
    stage.started, stage.ended, stage.progress, stage.error = now, None, None, None
    _tell(run, stage, "running", now, f"attempt {stage.attempt}, by {owner}")
    _settle(run, now)
    token = resource.token if resource else None
    return Lease(run.id, stage.name, owner, stage.attempt, terms.lease_seconds, token)


def held(run: RunRow, name: str, token: int) -> StageRow:
    """The stage on which the attempt with this token is at work; LeaseLostError where it is no longer."""
    stage = stage_of(run, name)
    if stage.state != "running" or stage.attempt != token:
        raise LeaseLostError(
            f"run {run.id}, stage {name}: attempt {token} has lost its lease; it is {stage.state} at attempt "
            f"{stage.attempt}"
        )
    return stage


def heartbeat(run: RunRow, stage: StageRow, progress: StageProgress | None, *, now: datetime, terms: Terms) -> bool:
    """Move the deadline of a stage that is held, and keep its progress. True where its run is cancelled.

    An event is made of it for each hundredth of the way alone: events are never removed, and a stage may take a day.
    """
    stage.deadline = now + terms.lease
    if progress is not None and (content := progress.model_dump()) != stage.progress:
        before = StageProgress.model_validate(stage.progress) if stage.progress else None
        stage.progress = content
        if before is None or _hundredths(before) != _hundredths(progress):
            _tell(run, stage, "running", now, progress=progress)
    return run.cancelled is not None


def finish(run: RunRow, stage: StageRow, resource: ResourceRow | None, digest: str, now: datetime) -> None:
    """End a stage that is held, by the digest of what it made. It counts although its run was cancelled meanwhile."""
    _end(stage, resource, "done", now)
    stage.manifest_digest = digest
    _tell(run, stage, "done", now)
    _settle(run, now)


def fail(
    run: RunRow,
    stage: StageRow,
    resource: ResourceRow | None,
    error: ErrorBody,
    *,
    now: datetime,
    terms: Terms,
    is_final: bool = False,
) -> None:
    """End an attempt that is held: after a pause there is another, until it was the last. `is_final` ends the stage."""
    failures = terms.attempts - (stage.last_attempt - stage.attempt)
    _put_back(run, stage, resource, error, now, pause=terms.pause(max(failures, 1)), is_final=is_final)


def give_back(run: RunRow, stage: StageRow, resource: ResourceRow | None, now: datetime) -> None:
    """End an attempt that is held, for no fault: its worker stops, or its run was cancelled. It does not count."""
    stage.last_attempt += 1
    _end(stage, resource, "cancelled" if run.cancelled else "waiting", now)
    _tell(run, stage, stage.state, now, "given back by its worker")
    _settle(run, now)


def expire(run: RunRow, stage: StageRow, resource: ResourceRow | None, now: datetime) -> bool:
    """End an attempt whose deadline has passed. False where there is none."""
    if stage.state != "running" or stage.deadline is None or stage.deadline > now:
        return False
    silent = ErrorBody(error="infrastructure_error", detail=f"its worker fell silent: {stage.owner}")
    _put_back(run, stage, resource, silent, now)
    return True


def cancel(run: RunRow, now: datetime) -> None:
    """Let nothing of a run begin any more; a stage that is running learns of it by its next heartbeat.

    Raises ConflictError where the run is done.
    """
    if run.state == "done":
        raise ConflictError(f"run {run.id} is done: there is nothing to cancel")
    if run.cancelled is None:
        run.cancelled = now
        _tell(run, None, run.state, now, "cancelled by request")
    for stage in run.stages:
        if stage.state not in ("done", "running"):
            stage.state = "cancelled"
    _settle(run, now)


def retry(run: RunRow, now: datetime, terms: Terms) -> None:
    """Give what is dead or failed as many attempts again. Raises ConflictError where nothing is."""
    stages = [stage for stage in run.stages if stage.state in ("dead", "failed")]
    if not stages:
        raise ConflictError(f"run {run.id} is {run.state}: only what is dead or failed is tried again")
    for stage in stages:
        stage.state, stage.sent, stage.not_before = "waiting", None, None
        stage.last_attempt = stage.attempt + terms.attempts
        _tell(run, stage, "waiting", now, "to be tried again")
    _settle(run, now)


def stage_of(run: RunRow, name: str) -> StageRow:
    """A stage by its name; NotFoundError where the run has none of that name."""
    for stage in run.stages:
        if stage.name == name:
            return stage
    raise NotFoundError(f"run {run.id} has no stage {name!r}, but {', '.join(stage.name for stage in run.stages)}")


def _hundredths(progress: StageProgress) -> tuple[int, int]:
    """How far a stage is, and of how much: of another job of the same stage that is something else."""
    return progress.steps, 100 * progress.step // max(progress.steps, 1)


def _is_next(run: RunRow, stage: StageRow) -> bool:
    return all(before.state == "done" for before in run.stages if before.position < stage.position)


def _put_back(
    run: RunRow,
    stage: StageRow,
    resource: ResourceRow | None,
    error: ErrorBody,
    now: datetime,
    *,
    pause: timedelta = timedelta(0),
    is_final: bool = False,
) -> None:
    """End an attempt that failed: as what comes of it."""
    state: RunState = "waiting"
    if run.cancelled:
        state = "cancelled"
    elif is_final:
        state = "failed"
    elif stage.attempt >= stage.last_attempt:
        state = "dead"
    _end(stage, resource, state, now)
    stage.error, stage.not_before = error.model_dump(), now + pause
    _tell(run, stage, state if state in _ENDED else "failed", now, f"attempt {stage.attempt}: {error.detail}")
    _settle(run, now)


def _end(stage: StageRow, resource: ResourceRow | None, state: RunState, now: datetime) -> None:
    stage.state, stage.owner, stage.deadline = state, None, None
    stage.sent, stage.not_before, stage.ended = None, None, now
    if resource is not None:
        resource.run_id = resource.position = None


def _settle(run: RunRow, now: datetime) -> None:
    """Give the run the state that its stages make."""
    state = _combined([stage.state for stage in run.stages])
    if state != run.state:
        run.state = state
        _tell(run, None, state, now)


def _combined(states: Sequence[RunState]) -> RunState:
    if "running" in states:
        return "running"
    for state in _ENDED:
        if state in states:
            return state
    alike = set(states)
    return states[0] if len(alike) == 1 else "running"


def _tell(
    run: RunRow,
    stage: StageRow | None,
    state: RunState,
    now: datetime,
    detail: str = "",
    progress: StageProgress | None = None,
) -> None:
    run.last_event += 1
    run.events.add(
        EventRow(
            number=run.last_event,
            time=now,
            stage=stage.name if stage else None,
            state=state,
            progress=progress.model_dump() if progress else None,
            detail=detail[:2_000],
        )
    )
