"""Runs in a file of SQLite, with a clock that a test moves and a queue that it looks into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rl_gym.infra.database import Database, open_database
from rl_gym.infra.errors import InfrastructureError
from rl_gym.infra.migrations import migrate
from rl_gym.wire import ErrorBody, Run, RunSpec
from services.trainer.delivery import Delivery, StagePlan
from services.trainer.leases import Lease, Terms
from services.trainer.settings import MIGRATIONS

__all__ = ["DIGEST", "FAULT", "PLAN", "TERMS", "Runs"]

PLAN = (StagePlan("prepare"), StagePlan("sft", "gpu"), StagePlan("gate"))
TERMS = Terms(lease_seconds=45, attempts=3, retry_seconds=15, resend_seconds=60)
DIGEST = "0123456789ab"
FAULT = ErrorBody(error="infrastructure_error", detail="the disk is full")


@dataclass
class Runs:
    """A delivery and what is injected into it."""

    folder: Path
    now: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    sent: list[tuple[str, str]] = field(default_factory=list)
    is_queue_down: bool = False
    queued: int = 0
    terms: Terms = TERMS

    def __post_init__(self) -> None:
        self.database: Database = open_database(f"sqlite:///{self.folder / 'runs.sqlite'}")
        migrate(self.database, MIGRATIONS)
        self.delivery = self.on("")

    def on(self, machine: str) -> Delivery:
        """The same runs, as workers on a machine have them."""
        return Delivery(self.database, self.terms, self._send, lambda _: self.now, self._queued, machine)

    def submit(self, key: str | None = None, preset: str = "nano", plan: Sequence[StagePlan] = PLAN) -> Run:
        return self.delivery.submit(RunSpec(preset=preset, idempotency_key=key), {"steps": 3}, plan)

    def claim(self, run: Run, stage: str, owner: str = "ana") -> Lease:
        lease = self.delivery.claim(run.id, stage, owner)
        assert lease is not None
        return lease

    def until_sft(self) -> tuple[Run, Lease]:
        """A run whose second stage, which needs the GPU, is claimed."""
        run = self.submit()
        self.delivery.finish(self.claim(run, "prepare"), DIGEST)
        return run, self.claim(run, "sft")

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def states(self, run: Run) -> list[str]:
        """The state of a run, and of each of its stages."""
        found = self.delivery.run(run.id)
        return [found.state, *(stage.state for stage in found.stages)]

    def take_sent(self) -> list[tuple[str, str]]:
        sent, self.sent = self.sent, []
        return sent

    def _send(self, run: str, stage: str) -> None:
        if self.is_queue_down:
            raise InfrastructureError("Redis does not take messages")
        self.sent.append((run, stage))

    def _queued(self) -> int:
        if self.is_queue_down:
            raise InfrastructureError("Redis does not answer")
        return self.queued
