"""The queue: Celery over Redis, for messages that may be lost or come twice, and mean no more than "look at this".

JSON alone is read, and a worker takes no orders from whoever can write to Redis (`inspect`, `shutdown`).
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from celery import Celery
from celery.signals import beat_embedded_init, worker_process_init
from kombu.exceptions import OperationalError
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.retry import Retry

from rl_gym.infra.errors import InfrastructureError, UsageError, one_line
from rl_gym.infra.redis_transport import use_for_redis
from rl_gym.infra.settings import Settings
from rl_gym.infra.tether import end_with_parent

__all__ = ["check_queue", "make_app", "send", "waiting"]

_CONNECT_SECONDS = 3


def make_app(name: str, address: str, *, longest_seconds: float) -> Celery:
    """A Celery application whose tasks take at most `longest_seconds`; nothing is asked of Redis yet.

    Raises UsageError where the address is not one of Redis.
    """
    if not _is_address(address):
        raise UsageError(f"{Settings.variable('redis')}: redis://host:port/number or rediss://... is needed")
    use_for_redis()
    app = Celery(name, broker=address, backend=None, set_as_current=False)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        # A message is gone when its task has ended, not when it has begun; one at a time, so that none waits
        # behind a long task while another worker is idle.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        # To publish fails at once: what is a hint can be given later.
        task_publish_retry=False,
        # A worker, though, waits for Redis as long as it takes, and what it is at work on goes on meanwhile.
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=_CONNECT_SECONDS,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        # The schedule is in memory: there is no file that a killed Beat could leave half-written.
        beat_scheduler="celery.beat:Scheduler",
        broker_transport_options={
            # What takes longer comes a second time; and what a killed worker had is looked for every ten seconds,
            # not every hundred.
            "visibility_timeout": int(longest_seconds) + 3_600,
            "unacked_restore_interval": 10,
            "unacked_restore_throttle": 1,
            "socket_connect_timeout": _CONNECT_SECONDS,
            "socket_timeout": 30,
            "max_retries": 1,
            "interval_start": 0,
        },
    )
    return app


def send(app: Celery, task: str, *arguments: str, queue: str, expires: float) -> None:
    """Put a message on a queue, worthless after `expires` seconds. InfrastructureError where Redis does not take it."""
    try:
        app.send_task(task, arguments, queue=queue, expires=expires)
    except (OperationalError, RedisError, OSError) as error:
        raise InfrastructureError(f"{_place(app)} does not take messages: {one_line(str(error), 200)}") from None


def check_queue(app: Celery) -> None:
    """Raise InfrastructureError where Redis does not answer now."""
    with _asked(app) as redis:
        redis.ping()


def waiting(app: Celery, queue: str) -> int:
    """How many messages no worker has taken from a queue yet. InfrastructureError where Redis does not answer now."""
    with _asked(app) as redis:
        return int(redis.llen(queue))


@contextmanager
def _asked(app: Celery) -> Iterator[Redis]:
    """Redis, asked once and not again: whoever asks has no more time than for one answer."""
    redis = Redis.from_url(
        app.conf.broker_url,
        socket_connect_timeout=_CONNECT_SECONDS,
        socket_timeout=_CONNECT_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        yield redis
    except (RedisError, OSError) as error:
        raise InfrastructureError(f"{_place(app)} does not answer: {one_line(str(error), 200)}") from None
    finally:
        redis.close()


def _is_address(address: str) -> bool:
    """Whether Celery and redis-py can make a connection of it: neither says so before it needs one."""
    try:
        parse_url(address)  # type: ignore[no-untyped-call]
        url = urlsplit(address)
        number = url.path.strip("/")
    except ValueError:
        return False
    return url.scheme in ("redis", "rediss") and (not number or number.isdecimal())


def _place(app: Celery) -> str:
    """Redis by its place, without its password."""
    url = urlsplit(str(app.conf.broker_url))
    return f"Redis ({url.hostname}:{url.port or 6379})"


@beat_embedded_init.connect  # type: ignore[untyped-decorator]
@worker_process_init.connect  # type: ignore[untyped-decorator]
def _tie_to_worker(**_: Any) -> None:
    """What a worker has forked, its pool and its Beat, would else go on long after the worker was killed."""
    end_with_parent(signal.SIGKILL)
