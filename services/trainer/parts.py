"""The parts of the trainer as processes: the API, a worker of stages, a worker of control, and all of them at once.

What needs the extra `services` is imported by each part: then a package that is absent is one line.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from pydantic import SecretStr

from rl_gym.infra.command import serve_app
from rl_gym.infra.errors import ConflictError, InfrastructureError
from rl_gym.infra.extras import extra
from services.trainer.settings import TrainerSettings

__all__ = ["PARTS", "everything"]

_ROOT = Path(__file__).resolve().parents[2]
_LOCK = "trainer.lock"
_REDIS = "redis"
_MORE_SECONDS = 30.0
"""What a worker has for its end beside the time that a stage has to stop: to give it back."""


def work(settings: TrainerSettings) -> int:
    """Do stages, one at a time, until SIGTERM: then the stage is given back."""
    with extra("services"):
        from services.trainer.wiring import redis_address
        from services.trainer.worker import STAGES, create_worker, enlist_machine, migrate_database, serve_queue
    redis = redis_address(settings)
    with extra("train"):
        from services.trainer.hosting import hosted_stages
    migrate_database(settings)
    enlist_machine(settings, redis)
    return serve_queue(create_worker(settings, redis, hosted_stages(settings)), STAGES)


def control(settings: TrainerSettings) -> int:
    """Look for what was lost, every few seconds, until SIGTERM."""
    with extra("services"):
        from services.trainer.wiring import redis_address
        from services.trainer.worker import CONTROL, create_worker, migrate_database, serve_queue
    redis = redis_address(settings)
    migrate_database(settings)
    return serve_queue(create_worker(settings, redis, {}), CONTROL)


PARTS: Mapping[str, Callable[[TrainerSettings], int]] = {"api": serve_app, "work": work, "control": control}


def everything(settings: TrainerSettings) -> int:
    """Serve the API, with a worker of either kind and, where none is named, a Redis as processes of its own.

    They end with this process however that ends. After SIGTERM requests end first, then stages are given back.
    """
    with extra("services"):
        from rl_gym.infra.hosting import refuse_open_binding, serve
        from rl_gym.infra.kept_process import KeptProcess
        from services.trainer.app import create_app
        from services.trainer.schedule import scheduled_spec
        from services.trainer.wiring import wire
        from services.trainer.worker import GRACE_SECONDS
    refuse_open_binding(settings)
    # The worker of control would end of it, again and again.
    scheduled_spec(settings)
    signal.signal(signal.SIGTERM, _end)
    with _alone_in(settings.runs), _redis(settings) as redis:
        settings = settings.model_copy(update={"redis": SecretStr(redis)})
        environment = {
            **os.environ,
            f"{settings.prefix()}REDIS": redis,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH")))),
        }
        workers = [
            KeptProcess(
                part,
                [sys.executable, "-m", "services.trainer", part],
                environment,
                end_seconds=GRACE_SECONDS + _MORE_SECONDS,
            )
            for part in ("work", "control")
        ]
        serve(create_app(settings, wire(settings, workers)), settings)
    return 0


@contextmanager
def _redis(settings: TrainerSettings) -> Iterator[str]:
    """The address of the Redis that is named, else of one that is started here and keeps its data in `runs`."""
    from rl_gym.infra.redis_server import embedded_redis

    named = settings.redis.get_secret_value()
    if named:
        yield named
    else:
        with embedded_redis(settings.runs / _REDIS) as address:
            yield address


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep others out who would start the same on one machine; ConflictError where somebody has."""
    path = folder / _LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = path.open("w")
    except OSError as error:
        raise InfrastructureError(f"{path}: {error.strerror or error}") from None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConflictError(
                f"{folder}: another trainer is at work there: stop it, or name another RL_GYM_RUNS"
            ) from None
        yield


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    # Not the default, which would end this process before what it started.
    raise SystemExit(0)
