"""Puts the parts of the API together: delivery, queue, object store, and the workers that are its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from celery import Celery

from rl_gym.infra.errors import UsageError
from rl_gym.infra.kept_process import KeptProcess
from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.infra.queue import make_app
from services.trainer.delivery import Delivery
from services.trainer.live import Live
from services.trainer.settings import TrainerSettings
from services.trainer.worker import create_delivery, migrate_database

__all__ = ["Parts", "redis_address", "wire"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the API asks, and the workers that live as long as it does; none where they are started elsewhere."""

    delivery: Delivery
    live: Live
    queue: Celery
    store: Callable[[], ObjectStore]
    workers: Sequence[KeptProcess] = ()


def wire(settings: TrainerSettings, workers: Sequence[KeptProcess] = ()) -> Parts:
    """The parts that settings name, with the database migrated.

    Raises UsageError for settings that do not fit, InfrastructureError where the database fails.
    """
    redis = redis_address(settings)
    queue = make_app("trainer", redis, longest_seconds=settings.stage_seconds)
    migrate_database(settings)
    # Opened when it is first needed: where it is away, runs can be submitted and watched all the same.
    store = cache(lambda: open_store(settings.objects))
    return Parts(create_delivery(settings, queue), Live(redis), queue, store, workers)


def redis_address(settings: TrainerSettings) -> str:
    """The address of Redis; UsageError where none is named."""
    address = settings.redis.get_secret_value()
    if not address:
        raise UsageError(
            f"{settings.variable('redis')}: a part of the trainer needs an address redis://...; "
            "`python -m services.trainer` without a part starts a Redis of its own"
        )
    return address
