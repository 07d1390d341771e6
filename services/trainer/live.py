"""How far a stage is at this moment, by Redis: said by its worker at once, and forgotten within a minute.

The database has the same with the next heartbeat. So what is lost here, with Redis or without it, is only more lively.
"""

from __future__ import annotations

import time

import structlog
from pydantic import ValidationError
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from rl_gym.wire.run import LiveProgress, StageProgress
from services.trainer.leases import Lease

__all__ = ["Live"]

_log = structlog.get_logger("live")

_KEPT_SECONDS = 60
_ANSWER_SECONDS = 1.0
_LEAST_SECONDS = 0.2
_AWAY_SECONDS = 15.0
"""Without an answer Redis is left alone for so long: nobody's step waits for it twice."""


class Live:
    """Both sides of it, for one Redis. Its methods never raise and may be called from any thread."""

    def __init__(self, address: str) -> None:
        self._redis = Redis.from_url(
            address,
            socket_connect_timeout=_ANSWER_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self._next = 0.0

    def tell(self, lease: Lease, progress: StageProgress) -> None:
        """Say how far an attempt is, a few times a second at most; a later attempt's word counts for more."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _LEAST_SECONDS
        told = LiveProgress(stage=lease.stage, attempt=lease.token, progress=progress)
        try:
            self._redis.set(_key(lease.run), told.model_dump_json(), ex=_KEPT_SECONDS)
        except (RedisError, OSError) as error:
            self._next = now + _AWAY_SECONDS
            _log.info("Redis does not take how far a stage is", run=lease.run, reason=type(error).__name__)

    def latest(self, run: str) -> LiveProgress | None:
        """What was said last of a run; None where nothing was for a minute, or Redis does not answer."""
        now = time.monotonic()
        if now < self._next:
            return None
        try:
            said = self._redis.get(_key(run))
            return LiveProgress.model_validate_json(said) if isinstance(said, bytes) else None
        except (RedisError, OSError):
            self._next = now + _AWAY_SECONDS
            return None
        except ValidationError:
            return None

    def close(self) -> None:
        self._redis.close()


def _key(run: str) -> str:
    return f"trainer-live:{run}"
