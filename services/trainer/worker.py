"""The trainer's tasks on the queue: a stage by a message, and the search for what was lost every few seconds.

Two queues, so that a stage of hours is in nobody's way: workers of STAGES do one stage at a time, and a small worker
of CONTROL, with Beat in it, reconciles and begins what is due. A message carries the names of a run and a stage, and no
more.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from multiprocessing import get_context
from typing import Any

from celery import Celery
from celery.signals import worker_shutting_down

from rl_gym.infra.database import database_address, open_database
from rl_gym.infra.errors import RlGymError
from rl_gym.infra.migrations import migrate
from rl_gym.infra.queue import make_app, send, waiting
from services.trainer.delivery import Delivery
from services.trainer.leases import Terms
from services.trainer.live import Live
from services.trainer.schedule import due_flywheel, scheduled_spec
from services.trainer.scratch import Sweep
from services.trainer.settings import MIGRATIONS, TrainerSettings
from services.trainer.submission import GPU
from services.trainer.work import Outcome, Pace, Stage, perform

__all__ = [
    "CONTROL",
    "GRACE_SECONDS",
    "STAGES",
    "create_delivery",
    "create_worker",
    "enlist_machine",
    "migrate_database",
    "serve_queue",
]

STAGES = "trainer-stages"
CONTROL = "trainer-control"

_RUN_STAGE = "trainer.run_stage"
_RECONCILE = "trainer.reconcile"
_FLYWHEEL = "trainer.flywheel"
GRACE_SECONDS = 120
"""What a stage that is told to stop may take for it, before its process is killed."""

_LOOK_SECONDS = 60.0
"""How often is looked whether a flywheel is due: a period begins that much late at worst, whenever Beat was started."""

_MESSAGE_SECONDS = 3_600
"""After this a message that no worker had time for is worthless: newer ones have been sent."""


def migrate_database(settings: TrainerSettings) -> None:
    """Bring the tables up to date; whoever starts a part of the service does this first."""
    database = open_database(database_address(settings))
    try:
        migrate(database, MIGRATIONS)
    finally:
        database.close()


def create_delivery(settings: TrainerSettings, app: Celery) -> Delivery:
    """Runs as they are in the database of the settings, with messages through this application."""
    terms = Terms(
        lease_seconds=settings.lease_seconds,
        attempts=settings.attempts,
        retry_seconds=settings.retry_seconds,
        resend_seconds=settings.resend_seconds,
        open_runs=settings.open_runs,
    )
    tell = partial(send, app, _RUN_STAGE, queue=STAGES, expires=_MESSAGE_SECONDS)
    return Delivery(
        open_database(database_address(settings)),
        terms,
        tell,
        queued=partial(waiting, app, STAGES),
        machine=settings.machine_name,
    )


def enlist_machine(settings: TrainerSettings, redis: str) -> None:
    """Have this machine known, and its disk freed of runs that ended long ago; whoever does stages does this first."""
    delivery = create_delivery(settings, make_app("trainer", redis, longest_seconds=settings.stage_seconds))
    try:
        delivery.enlist(GPU)
        Sweep(settings)(delivery)
    finally:
        delivery.close()


def create_worker(settings: TrainerSettings, redis: str, stages: Mapping[str, Stage]) -> Celery:
    """The application with its tasks, for workers that can do these stages."""
    app = make_app("trainer", redis, longest_seconds=settings.stage_seconds)
    closing = get_context("fork").Event()

    @worker_shutting_down.connect(weak=False)  # type: ignore[untyped-decorator]
    def close(**_: Any) -> None:
        # Heard by the worker, and seen in the process of its pool.
        closing.set()

    pace = Pace(settings.heartbeat_seconds, settings.stage_seconds, closing.is_set)
    # Made by the first task of a process: connections do not survive a fork.
    delivery = cache(partial(create_delivery, settings, app))
    live = cache(partial(Live, redis))
    sweep = Sweep(settings)

    @app.task(name=_RUN_STAGE, time_limit=settings.stage_seconds + GRACE_SECONDS, throws=(RlGymError,))  # type: ignore[untyped-decorator]
    def run_stage(run: str, stage: str) -> Outcome:
        sweep(delivery())
        return perform(delivery(), stages, run, stage, pace, live().tell)

    @app.task(name=_RECONCILE, throws=(RlGymError,))  # type: ignore[untyped-decorator]
    def reconcile() -> int:
        return delivery().reconcile()

    @app.task(name=_FLYWHEEL, throws=(RlGymError,))  # type: ignore[untyped-decorator]
    def flywheel() -> str | None:
        run = due_flywheel(settings, delivery(), datetime.now(UTC))
        return None if run is None else run.id

    app.conf.beat_schedule = {"reconcile": _each(_RECONCILE, settings.reconcile_seconds)}
    if scheduled_spec(settings) is not None:
        app.conf.beat_schedule["flywheel"] = _each(_FLYWHEEL, min(_LOOK_SECONDS, settings.flywheel_seconds))
    return app


def _each(task: str, seconds: float) -> dict[str, Any]:
    return {"task": task, "schedule": seconds, "options": {"queue": CONTROL, "expires": seconds}}


def serve_queue(app: Celery, queue: str) -> int:
    """Work for a queue, one message at a time, until SIGTERM: then a stage is given back. For CONTROL with Beat.

    The exit status.
    """
    # What Celery says of each message is noise beside what a stage says; it sets the level of everybody's logs.
    logging.getLogger("celery").setLevel(logging.WARNING)
    worker = app.Worker(
        queues=[queue],
        loglevel=logging.getLogger().getEffectiveLevel(),
        concurrency=1,
        pool="prefork",
        quiet=True,
        beat=queue == CONTROL,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
