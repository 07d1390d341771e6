"""Whatever workers, users and time do, in any order: what must hold of leases, results, resources and events holds."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule
from sqlalchemy import select

from rl_gym.infra.errors import ConflictError
from rl_gym.wire import RunEvent, StageProgress
from services.trainer.delivery import StagePlan
from services.trainer.leases import Lease, LeaseLostError
from services.trainer.models import ResourceRow, RunRow, StageRow
from services.trainer.repository import Repository
from tests.unit.services.trainer.runs import FAULT, TERMS, Runs

PLAN = (StagePlan("sft", "gpu"), StagePlan("grpo", "gpu"))
STAGES = st.sampled_from([stage.name for stage in PLAN])
RUN = st.integers(0, 1)


class Deliveries(RuleBasedStateMachine):
    """Two runs; each lease that was ever had stays with somebody who may use it at any time: a zombie."""

    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.runs = Runs(self.folder)
        self.made = [self.runs.submit(plan=PLAN), self.runs.submit(plan=PLAN)]
        self.finished: dict[tuple[str, str], list[Lease]] = {}
        self.current: dict[tuple[str, str], Lease] = {}
        self.tokens: dict[str, int] = {}

    def teardown(self) -> None:
        self.runs.database.close()
        shutil.rmtree(self.folder)

    @rule(target=leases, run=RUN, any_stage=st.none() | STAGES)
    def claim(self, run: int, any_stage: str | None) -> Any:
        return self._claim(self.made[run].id, any_stage or self._next(run))

    @rule(target=leases, lease=leases)
    def take_over(self, lease: Lease) -> Any:
        self.runs.forward(TERMS.lease_seconds)
        self.runs.delivery.reconcile()
        return self._claim(lease.run, lease.stage)

    @rule(lease=leases)
    def heartbeat(self, lease: Lease) -> None:
        self._accepted(lease, lambda: self.runs.delivery.heartbeat(lease, StageProgress(step=lease.token, steps=9)))

    @rule(lease=leases)
    def finish(self, lease: Lease) -> None:
        digest = f"{lease.token:012x}"
        if self._accepted(lease, lambda: self.runs.delivery.finish(lease, digest), again=self._was_finished_by(lease)):
            done = self.finished.setdefault((lease.run, lease.stage), [])
            if lease not in done:
                done.append(lease)

    @rule(lease=consumes(leases), is_final=st.booleans())
    def fail(self, lease: Lease, is_final: bool) -> None:
        self._accepted(lease, lambda: self.runs.delivery.fail(lease, FAULT, is_final=is_final))

    @rule(lease=consumes(leases))
    def give_back(self, lease: Lease) -> None:
        self._accepted(lease, lambda: self.runs.delivery.give_back(lease))

    @rule(seconds=st.sampled_from([0, 20, TERMS.lease_seconds, 3_600]), is_queue_down=st.booleans())
    def reconcile(self, seconds: float, is_queue_down: bool) -> None:
        self.runs.forward(seconds)
        self.runs.is_queue_down = is_queue_down
        self.runs.delivery.reconcile()
        assert not {key for key, deadline in self._live().items() if deadline <= self.runs.now}

    @rule(run=RUN, act=st.sampled_from(["cancel", "retry"]))
    def ask(self, run: int, act: str) -> None:
        state = self.runs.states(self.made[run])[0]
        try:
            getattr(self.runs.delivery, act)(self.made[run].id)
        except ConflictError:
            assert (state == "done") if act == "cancel" else (state not in ("dead", "failed"))

    def _claim(self, run: str, stage: str) -> Any:
        before = self._live()
        lease = self.runs.delivery.claim(run, stage, "ana")
        if lease is None:
            return multiple()
        key = (lease.run, lease.stage)
        assert key not in before, "somebody has it"
        assert key not in self.finished
        old = self.current.get(key)
        assert lease.token == (old.token if old else 0) + 1
        if lease.resource_token is not None:
            assert lease.resource_token > self.tokens.get("gpu", 0)
            self.tokens["gpu"] = lease.resource_token
        self.current[key] = lease
        return lease

    @invariant()
    def what_must_hold_holds(self) -> None:
        with self.runs.database.reading() as session:
            rows = [Repository(session).get(run.id) for run in self.made]
            self._each_stage_is_done_once_and_in_order(rows)
            self._the_gpu_is_with_the_stage_that_runs_on_it(rows, session.get_one(ResourceRow, "gpu"))
            for row in rows:
                self._events_tell_all(row, Repository(session).events(row.id))

    def _each_stage_is_done_once_and_in_order(self, rows: list[RunRow]) -> None:
        done = {(row.id, stage.name): stage for row in rows for stage in row.stages if stage.state == "done"}
        assert set(done) == set(self.finished)
        for key, leases in self.finished.items():
            (lease,) = leases
            assert done[key].manifest_digest == f"{lease.token:012x}"
        for row in rows:
            assert (row.state == "done") == all(stage.state == "done" for stage in row.stages)
            assert all(after.attempt == 0 or before.state == "done" for before, after in pairwise(row.stages))

    def _the_gpu_is_with_the_stage_that_runs_on_it(self, rows: list[RunRow], gpu: ResourceRow) -> None:
        running = [(s.run_id, s.position) for row in rows for s in row.stages if s.state == "running" and s.resource]
        assert running == [(gpu.run_id, gpu.position)] * (gpu.run_id is not None)

    def _events_tell_all(self, row: RunRow, events: list[RunEvent]) -> None:
        assert [event.number for event in events] == list(range(1, len(events) + 1))
        # The last that happened to the run as a whole is its state.
        assert [event for event in events if event.stage is None][-1].state == row.state

    def _accepted(self, lease: Lease, act: Callable[[], object], again: bool = False) -> bool:
        """Whether it was; it must be for the present attempt while it runs, and must not for any other."""
        key = (lease.run, lease.stage)
        is_present = again or (key in self._live() and self.current[key] == lease)
        try:
            act()
        except LeaseLostError:
            assert not is_present
            return False
        assert is_present
        return True

    def _next(self, run: int) -> str:
        """The first stage that is not done, or the last."""
        stages = self.runs.delivery.run(self.made[run].id).stages
        return next((stage.stage for stage in stages if stage.state != "done"), stages[-1].stage)

    def _was_finished_by(self, lease: Lease) -> bool:
        return lease in self.finished.get((lease.run, lease.stage), [])

    def _live(self) -> dict[tuple[str, str], Any]:
        with self.runs.database.reading() as session:
            rows = session.scalars(select(StageRow).where(StageRow.state == "running"))
            return {(row.run_id, row.name): row.deadline for row in rows}


TestDeliveries = Deliveries.TestCase
TestDeliveries.settings = settings(
    max_examples=15, stateful_step_count=35, deadline=None, suppress_health_check=list(HealthCheck)
)
