"""How runs get done, whatever dies meanwhile: the database is the truth, and messages are hints.

Each change is one transaction that locks the run's row, so that of two who want the same only one gets it. After a
change whatever can be claimed is sent to the queue. A message that was lost, or could not be sent, is sent again by
`reconcile`, which somebody calls every few seconds, unless as many wait in the queue as there are stages to be claimed:
then workers are busy, and more of them would but pile up. One that comes twice finds nothing to claim. Time is the
database's: a clock that jumps ahead ends leases too early, which costs an attempt and never a result.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from rl_gym import __version__
from rl_gym.infra.database import Database
from rl_gym.infra.errors import BusyError, ConflictError, InfrastructureError, UsageError
from rl_gym.wire.error import ErrorBody
from rl_gym.wire.model import Model
from rl_gym.wire.run import Run, RunEvent, RunSpec, RunState, StageProgress
from services.trainer import leases
from services.trainer.leases import Lease, Terms
from services.trainer.models import RunRow, StageRow
from services.trainer.repository import MOST, Due, Repository, resource_name, run_message

__all__ = ["Clock", "Delivery", "Queued", "Send", "StagePlan"]

_log = structlog.get_logger("delivery")

Send = Callable[[str, str], None]
"""Tells some worker of a stage, by run and name; raises InfrastructureError where that cannot be done."""

Queued = Callable[[], int]
"""How many messages no worker has taken yet; raises InfrastructureError where that cannot be told."""

Clock = Callable[[Session], datetime]

_BUSY_SECONDS = 60
_MOST_HINTS = 20
"""What is sent after a change, which somebody waits for; the rest is left to `reconcile`."""


@dataclass(frozen=True)
class StagePlan:
    """A stage of a run that is submitted; while it runs no other stage has its `resource` on the same machine."""

    name: str
    resource: str | None = None


class Delivery:
    """Runs, from their submission to their end. Its methods may be called from any thread and any machine.

    Each raises InfrastructureError where the database fails, and NotFoundError where there is no such run or stage.
    `machine` is where a worker's stages run: of each resource a machine has one.
    """

    def __init__(
        self,
        database: Database,
        terms: Terms,
        send: Send,
        clock: Clock | None = None,
        queued: Queued = lambda: 0,
        machine: str = "",
    ) -> None:
        self._database = database
        self._terms = terms
        self._send = send
        self._queued = queued
        self._machine = machine
        self._clock = clock or database.now

    # Asked by whoever wants something trained.

    def submit(self, spec: RunSpec, config: dict[str, Any], plan: Sequence[StagePlan]) -> Run:
        """Store a run, with its resolved configuration and its stages in order, and have it begun.

        The same spec under the same key is the run that is there; raises ConflictError for another under that key,
        UsageError for a plan without stages or with one twice, BusyError where as many runs are open as may be.
        """
        names = [stage.name for stage in plan]
        if not names or len(set(names)) < len(names):
            raise UsageError(f"a run needs stages, each once; these were asked for: {', '.join(names) or 'none'}")
        try:
            run = self._submit_once(spec, config, plan)
        except IntegrityError:
            # The key was used at the same moment: now it is there to be found.
            run = self._submit_once(spec, config, plan)
        self._hint()
        return run

    def known(self, spec: RunSpec) -> Run | None:
        """The run that was submitted under the key of a spec; ConflictError where that was another spec."""
        if spec.idempotency_key is None:
            return None
        with self._database.reading() as session:
            row = Repository(session).by_key(spec.idempotency_key)
            return None if row is None else _same_run(row, spec)

    def cancel(self, run: str) -> Run:
        """Let nothing of a run begin any more; ConflictError where it is done."""
        with self._database.writing() as session:
            row = Repository(session).locked(run)
            leases.cancel(row, self._clock(session))
            return run_message(row)

    def retry(self, run: str) -> Run:
        """Try again what is dead or failed of a run; ConflictError where nothing is."""
        with self._database.writing() as session:
            row = Repository(session).locked(run)
            leases.retry(row, self._clock(session), self._terms)
            message = run_message(row)
        self._hint()
        return message

    def run(self, run: str) -> Run:
        """A run as it is now."""
        with self._database.reading() as session:
            return run_message(Repository(session).get(run))

    def config(self, run: str) -> dict[str, Any]:
        """The resolved configuration that a run was submitted with."""
        with self._database.reading() as session:
            return Repository(session).get(run).config

    def runs(self, *, state: RunState | None = None, limit: int = 100) -> list[Run]:
        """The latest runs, the newest first; `state="dead"` is the list of what waits for a person."""
        with self._database.reading() as session:
            return Repository(session).runs(state=state, limit=limit)

    def events(self, run: str, *, after: int = 0, limit: int = 1_000) -> list[RunEvent]:
        """What happened in a run after the event of that number: the last number read is where to go on."""
        with self._database.reading() as session:
            return Repository(session).events(run, after=after, limit=limit)

    def counts(self) -> dict[RunState, int]:
        """How many runs are in each state; a state without any is left out."""
        with self._database.reading() as session:
            return Repository(session).counts()

    def ended(self, runs: Sequence[str], seconds: float) -> list[str]:
        """Those of these runs that ended so many seconds ago or longer, in their order."""
        with self._database.reading() as session:
            found = Repository(session).ended(runs, self._clock(session) - timedelta(seconds=seconds))
        return [run for run in runs if run in found]

    def models(self, *, limit: int = 100) -> list[Model]:
        """The latest models, the newest first."""
        with self._database.reading() as session:
            return Repository(session).models(limit=limit)

    def close(self) -> None:
        """Close the database's connections."""
        self._database.close()

    # Asked by workers.

    def enlist(self, resource: str) -> None:
        """Let it be known that this machine has such a resource, so that a stage is sent although others' are taken."""
        with self._database.writing() as session:
            Repository(session).ensure_resource(resource_name(resource, self._machine))

    def claim(self, run: str, stage: str, owner: str) -> Lease | None:
        """The lease of a stage for this owner; None where it is not to be had now, so that the message is dropped."""
        with self._database.writing() as session:
            repository = Repository(session)
            row = repository.locked(run)
            wanted = leases.stage_of(row, stage)
            resource = repository.resource_for(wanted, self._machine)
            now = self._clock(session)
            return leases.claim(row, wanted, resource, owner=owner, now=now, terms=self._terms)

    def heartbeat(self, lease: Lease, progress: StageProgress | None = None) -> bool:
        """Keep a lease. True where the run was cancelled: the worker should stop, and give the stage back.

        Raises LeaseLostError where the stage is no longer this attempt's.
        """
        with self._database.writing() as session:
            row = Repository(session).locked(lease.run)
            stage = leases.held(row, lease.stage, lease.token)
            return leases.heartbeat(row, stage, progress, now=self._clock(session), terms=self._terms)

    def finish(self, lease: Lease, digest: str) -> None:
        """End a stage by the digest of its manifest; again with the same lease and digest, nothing happens.

        Raises LeaseLostError where the stage is no longer this attempt's: then its result does not count.
        """
        with self._database.writing() as session:
            row = Repository(session).locked(lease.run)
            if not _is_done_by(leases.stage_of(row, lease.stage), lease, digest):
                stage = leases.held(row, lease.stage, lease.token)
                resource = Repository(session).resource_of(stage)
                leases.finish(row, stage, resource, digest, self._clock(session))
        self._hint()

    def fail(self, lease: Lease, error: ErrorBody, *, is_final: bool = False) -> None:
        """End an attempt; there is another after a pause, unless it was the last or `is_final`. LeaseLostError."""
        with self._database.writing() as session:
            row = Repository(session).locked(lease.run)
            stage = leases.held(row, lease.stage, lease.token)
            resource = Repository(session).resource_of(stage)
            now = self._clock(session)
            leases.fail(row, stage, resource, error, now=now, terms=self._terms, is_final=is_final)
        self._hint()

    def give_back(self, lease: Lease) -> None:
        """End an attempt that is nobody's fault; it does not count as one. LeaseLostError."""
        with self._database.writing() as session:
            row = Repository(session).locked(lease.run)
            stage = leases.held(row, lease.stage, lease.token)
            leases.give_back(row, stage, Repository(session).resource_of(stage), self._clock(session))
        self._hint()

    def add_model(self, lease: Lease, model: Model) -> Model:
        """Store a model that an attempt made; again, the same is found. LeaseLostError; ConflictError for another."""
        if model.run != lease.run:
            raise UsageError(f"model {model.name!r} is of run {model.run}, and run {lease.run} stores its own alone")
        with self._database.writing() as session:
            repository = Repository(session)
            leases.held(repository.locked(lease.run), lease.stage, lease.token)
            return repository.add_model(model)

    def reconcile(self) -> int:
        """End the leases that have expired, and send what can be claimed. The number of stages that were sent."""
        with self._database.reading() as session:
            expired = Repository(session).expired(self._clock(session))
        for due in expired:
            self._expire(due)
        return self._send_ready(MOST)

    def _submit_once(self, spec: RunSpec, config: dict[str, Any], plan: Sequence[StagePlan]) -> Run:
        with self._database.writing() as session:
            repository = Repository(session)
            row = repository.by_key(spec.idempotency_key) if spec.idempotency_key else None
            if row is not None:
                return _same_run(row, spec)
            if repository.open_runs() >= self._terms.open_runs:
                raise BusyError(f"{self._terms.open_runs} runs wait or run already", _BUSY_SECONDS)
            row = self._new_row(spec, config, plan, self._clock(session))
            repository.add(row)
            leases.begin(row, row.created)
            return run_message(row)

    def _new_row(self, spec: RunSpec, config: dict[str, Any], plan: Sequence[StagePlan], now: datetime) -> RunRow:
        stages = [
            StageRow(
                position=position,
                name=stage.name,
                resource=stage.resource,
                state="waiting",
                attempt=0,
                last_attempt=self._terms.attempts,
            )
            for position, stage in enumerate(plan)
        ]
        return RunRow(
            id=f"{now:%Y%m%d}-{secrets.token_hex(6)}",
            key=spec.idempotency_key,
            spec=spec.model_dump(mode="json"),
            config=config,
            code_version=__version__,
            state="waiting",
            created=now,
            last_event=0,
            stages=stages,
        )

    def _expire(self, due: Due) -> None:
        with self._database.writing() as session:
            repository = Repository(session)
            row = repository.locked(due.run)
            stage = leases.stage_of(row, due.stage)
            if leases.expire(row, stage, repository.resource_of(stage), self._clock(session)):
                _log.warning("a lease has expired", **due._asdict(), state=stage.state)

    def _send_ready(self, most: int) -> int:
        """Tell workers of what can be claimed. What cannot be told now stays as it is, for the next time."""
        with self._database.reading() as session:
            repository, now = Repository(session), self._clock(session)
            ready = repository.untold(now, most)
            again = repository.unheard(now, self._terms.resend_seconds, most - len(ready))
            claimable = repository.claimable(now) if again else 0
        sent = self._send_all(ready)
        if again and sent == len(ready):
            sent += self._send_all(again[: self._room(claimable)])
        return sent

    def _send_all(self, ready: Sequence[Due]) -> int:
        """Tell workers of these; the number of those that could be told."""
        for sent, due in enumerate(ready):
            try:
                self._send(due.run, due.stage)
            except InfrastructureError as error:
                _log.warning("nobody can be told of a stage for now", **due._asdict(), reason=str(error))
                return sent
            self._mark_sent(due)
        return len(ready)

    def _room(self, claimable: int) -> int:
        """How many messages may be sent again, so that no more wait than there are stages to be claimed."""
        try:
            return max(claimable - self._queued(), 0)
        except InfrastructureError as error:
            _log.warning("nobody can be told of a stage again for now", reason=str(error))
            return 0

    def _mark_sent(self, due: Due) -> None:
        with self._database.writing() as session:
            stage = leases.stage_of(Repository(session).locked(due.run), due.stage)
            # It may have been claimed, and have failed, already.
            if (stage.state, stage.attempt) == ("waiting", due.attempt):
                stage.sent = self._clock(session)

    def _hint(self) -> None:
        """As `_send_ready`, after a change that stands whether anybody is told of it now or not."""
        try:
            self._send_ready(_MOST_HINTS)
        except InfrastructureError as error:
            _log.warning("nobody can be told of what is ready for now", reason=str(error))


def _same_run(row: RunRow, spec: RunSpec) -> Run:
    """The run in a row; ConflictError where it was submitted with another spec."""
    # Not as they are stored: a row may be older than a field that has a default.
    if RunSpec.model_validate(row.spec) != spec:
        raise ConflictError(
            f"idempotency key {spec.idempotency_key!r} is that of run {row.id}, of another spec: take a new one"
        )
    return run_message(row)


def _is_done_by(stage: StageRow, lease: Lease, digest: str) -> bool:
    return (stage.state, stage.attempt, stage.manifest_digest) == ("done", lease.token, digest)
