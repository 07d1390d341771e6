"""What is asked of the trainer's tables: every query is here, and what it answers to others is a wire message."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from rl_gym.infra.errors import ConflictError, NotFoundError
from rl_gym.wire.error import ErrorBody
from rl_gym.wire.model import Model
from rl_gym.wire.run import ENDED, Run, RunEvent, RunSpec, RunState, StageProgress, StageStatus
from services.trainer.models import EventRow, ModelRow, ResourceRow, RunRow, StageRow

__all__ = ["MOST", "Due", "Repository", "resource_name", "run_message"]

MOST = 1_000
"""Rows of one answer."""


class Due(NamedTuple):
    """A stage for which something is to be done, and the attempt at which it was then."""

    run: str
    stage: str
    attempt: int


class Repository:
    """The tables as one transaction sees them. Lists hold at most MOST entries."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, run: RunRow) -> None:
        """Store a new run, with a row for each resource that its stages need, for workers who say of no machine."""
        for name in sorted({stage.resource for stage in run.stages if stage.resource}):
            self.ensure_resource(name)
        self._session.add(run)
        self._session.flush()

    def by_key(self, key: str) -> RunRow | None:
        """The run that was submitted under an idempotency key."""
        return self._session.scalars(select(RunRow).where(RunRow.key == key)).one_or_none()

    def open_runs(self) -> int:
        """How many runs wait or run."""
        return self._session.scalar(select(func.count()).where(RunRow.state.in_(("waiting", "running")))) or 0

    def counts(self) -> dict[RunState, int]:
        """How many runs are in each state; a state without any is left out."""
        rows = self._session.execute(select(RunRow.state, func.count().label("runs")).group_by(RunRow.state))
        return {row.state: row.runs for row in rows}

    def get(self, run: str) -> RunRow:
        """A run to read from; NotFoundError where there is none."""
        return self._found(run, select(RunRow).where(RunRow.id == run))

    def locked(self, run: str) -> RunRow:
        """A run to change: until the transaction ends nobody else does. NotFoundError where there is none."""
        return self._found(run, select(RunRow).where(RunRow.id == run).with_for_update())

    def resource_for(self, stage: StageRow, machine: str) -> ResourceRow | None:
        """What a stage of a locked run needs for itself on a machine, locked as well; somebody else may have it."""
        if stage.resource is None:
            return None
        name = resource_name(stage.resource, machine)
        self.ensure_resource(name)
        return self._session.get_one(ResourceRow, name, with_for_update=True)

    def resource_of(self, stage: StageRow) -> ResourceRow | None:
        """What a stage of a locked run has for itself, locked as well."""
        has = ResourceRow.run_id == stage.run_id, ResourceRow.position == stage.position
        return self._session.scalars(select(ResourceRow).where(*has).with_for_update()).one_or_none()

    def ensure_resource(self, name: str) -> None:
        """Have a resource known, so that somebody may be told that it is free."""
        if self._session.get(ResourceRow, name) is None:
            # Another run may bring it at the same moment: then it is there, which is all that is wanted.
            with suppress(IntegrityError), self._session.begin_nested():
                self._session.add(ResourceRow(name=name))

    def runs(self, *, state: RunState | None = None, limit: int = 100) -> list[Run]:
        """The latest runs, the newest first."""
        query = select(RunRow).order_by(RunRow.created.desc(), RunRow.id.desc()).limit(min(limit, MOST))
        if state is not None:
            query = query.where(RunRow.state == state)
        return [run_message(row) for row in self._session.scalars(query)]

    def events(self, run: str, *, after: int = 0, limit: int = MOST) -> list[RunEvent]:
        """What happened in a run since the event of that number, in order; none is ever added before one that is here.

        Raises NotFoundError where there is no such run.
        """
        self.get(run)
        rows = self._session.scalars(
            select(EventRow)
            .where(EventRow.run_id == run, EventRow.number > after)
            .order_by(EventRow.number)
            .limit(min(limit, MOST))
        )
        return [_event_message(row) for row in rows]

    def ended(self, runs: Sequence[str], before: datetime) -> set[str]:
        """Those of these runs that have ended, and to which nothing has happened since that moment."""
        last = and_(EventRow.run_id == RunRow.id, EventRow.number == RunRow.last_event)
        query = select(RunRow.id).join(EventRow, last)
        return set(
            self._session.scalars(query.where(RunRow.id.in_(runs), RunRow.state.in_(ENDED), EventRow.time <= before))
        )

    def expired(self, now: datetime) -> list[Due]:
        """The running stages whose deadline has passed."""
        return self._due_stages(
            select(StageRow.run_id, StageRow.name, StageRow.attempt)
            .where(StageRow.state == "running", StageRow.deadline <= now)
            .order_by(StageRow.deadline),
            MOST,
        )

    def claimable(self, now: datetime) -> int:
        """How many stages could be claimed now."""
        return self._session.scalar(select(func.count()).select_from(StageRow).where(*_claimable(now))) or 0

    def untold(self, now: datetime, limit: int = MOST) -> list[Due]:
        """The stages that could be claimed now and of which no worker was told, the oldest run's first."""
        return self._to_be_claimed(now, StageRow.sent.is_(None), limit)

    def unheard(self, now: datetime, resend_seconds: float, limit: int = MOST) -> list[Due]:
        """The stages that could be claimed now and of which workers were told so long ago, the oldest run's first."""
        return self._to_be_claimed(now, StageRow.sent <= now - timedelta(seconds=resend_seconds), limit)

    def add_model(self, model: Model) -> Model:
        """Store a model, or find that the very same is stored. ConflictError where another has its name."""
        self.get(model.run)
        if (row := self._session.get(ModelRow, model.name)) is None:
            row = ModelRow(**model.model_dump(exclude={"run"}), run_id=model.run)
            try:
                with self._session.begin_nested():
                    self._session.add(row)
            except IntegrityError:
                row = self._session.get_one(ModelRow, model.name)
        stored = _model_message(row)
        if stored.model_dump(exclude={"created"}) != model.model_dump(exclude={"created"}):
            raise ConflictError(f"model {model.name!r} is there already, made by run {stored.run} of something else")
        return stored

    def models(self, *, limit: int = 100) -> list[Model]:
        """The latest models, the newest first."""
        query = select(ModelRow).order_by(ModelRow.created.desc(), ModelRow.name).limit(min(limit, MOST))
        return [_model_message(row) for row in self._session.scalars(query)]

    def _found(self, run: str, query: Select[RunRow]) -> RunRow:
        row = self._session.scalars(query).one_or_none()
        if row is None:
            raise NotFoundError(f"no run {run!r}: `GET /runs` lists those there are")
        return row

    def _to_be_claimed(self, now: datetime, told: ColumnElement[bool], limit: int) -> list[Due]:
        return self._due_stages(
            select(StageRow.run_id, StageRow.name, StageRow.attempt)
            .join(RunRow, RunRow.id == StageRow.run_id)
            .where(*_claimable(now), told)
            .order_by(RunRow.created, RunRow.id),
            limit,
        )

    def _due_stages(self, query: Select[str, str, int], limit: int) -> list[Due]:
        return [Due(*row) for row in self._session.execute(query.limit(limit))]


def resource_name(resource: str, machine: str) -> str:
    """What a resource is called that each machine has one of; where no machine is named, there is one in all."""
    return f"{resource}:{machine}" if machine else resource


def run_message(row: RunRow) -> Run:
    """A run as others are told of it."""
    return Run(
        id=row.id,
        spec=RunSpec.model_validate(row.spec),
        state=row.state,
        created=row.created,
        stages=[_stage_message(stage) for stage in row.stages],
    )


def _stage_message(row: StageRow) -> StageStatus:
    return StageStatus(
        stage=row.name,
        state=row.state,
        attempt=row.attempt,
        started=row.started,
        ended=row.ended,
        progress=_progress(row.progress),
        manifest_digest=row.manifest_digest,
        error=ErrorBody.model_validate(row.error) if row.error else None,
    )


def _event_message(row: EventRow) -> RunEvent:
    return RunEvent(
        run=row.run_id,
        number=row.number,
        time=row.time,
        stage=row.stage,
        state=row.state,
        progress=_progress(row.progress),
        detail=row.detail,
    )


def _model_message(row: ModelRow) -> Model:
    fields = {name: getattr(row, name) for name in Model.model_fields if name != "run"}
    return Model(**fields, run=row.run_id)


def _progress(content: dict[str, Any] | None) -> StageProgress | None:
    return StageProgress.model_validate(content) if content else None


def _claimable(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """What holds of a stage that waits, whose turn it is, and whose resource is free, on one machine at least."""
    before = aliased(StageRow)
    is_next = ~exists().where(
        before.run_id == StageRow.run_id, before.position < StageRow.position, before.state != "done"
    )
    of_machines = ResourceRow.name.like(StageRow.resource + resource_name("", "%"))
    is_free = and_(
        ~exists().where(ResourceRow.name == StageRow.resource, ResourceRow.run_id.is_not(None)),
        or_(~exists().where(of_machines), exists().where(of_machines, ResourceRow.run_id.is_(None))),
    )
    is_due = or_(StageRow.not_before.is_(None), StageRow.not_before <= now)
    return StageRow.state == "waiting", is_next, is_free, is_due
