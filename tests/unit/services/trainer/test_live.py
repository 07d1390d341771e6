"""How far a stage is, by a real Redis: at once, for a minute, and at nobody's cost where Redis is away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("redis", reason="the extra services is not installed")

from redis import Redis

from rl_gym.infra.redis_server import embedded_redis, redis_program
from rl_gym.wire.run import StageProgress
from services.trainer import live as module
from services.trainer.leases import Lease
from services.trainer.live import Live
from tests.unit.services.trainer.served import NOWHERE

LEASE = Lease("20260101-aa", "grpo", "host:1:aa", 3, 45.0)
HALF = StageProgress(step=5, steps=10, reward=0.5, seconds_left=60.0)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if redis_program() is None:
        pytest.skip("no redis-server on this machine")
    with embedded_redis(tmp_path_factory.mktemp("redis")) as address:
        yield address


def test_what_a_worker_says_is_read_at_once_and_forgotten_soon(redis: str) -> None:
    worker, reader = Live(redis), Live(redis)
    assert reader.latest(LEASE.run) is None
    worker.tell(LEASE, HALF)
    told = reader.latest(LEASE.run)
    assert told is not None
    assert (told.stage, told.attempt, told.progress) == ("grpo", 3, HALF)
    with Redis.from_url(redis) as client:
        [key] = client.keys("trainer-live:*")
        assert 0 < client.ttl(key) <= 60
    assert reader.latest("20260101-bb") is None
    worker.close()
    reader.close()


def test_a_stage_that_says_much_is_told_a_few_times_a_second(redis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    worker, reader = Live(redis), Live(redis)
    for step in range(5):
        worker.tell(LEASE, HALF.model_copy(update={"step": step}))
    now[0] += 1
    told = reader.latest(LEASE.run)
    assert told is not None
    assert told.progress.step == 0
    worker.tell(LEASE, HALF.model_copy(update={"step": 9}))
    told = reader.latest(LEASE.run)
    assert told is not None
    assert told.progress.step == 9


def test_what_is_no_progress_is_none(redis: str) -> None:
    with Redis.from_url(redis) as client:
        client.set("trainer-live:20260101-cc", b"{")
    assert Live(redis).latest("20260101-cc") is None


def test_without_redis_nothing_is_told_and_nobody_waits_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    away = Live(NOWHERE)
    away.tell(LEASE, HALF)
    asked: list[str] = []
    monkeypatch.setattr(away._redis, "get", lambda key: asked.append(key))
    assert away.latest(LEASE.run) is None
    assert asked == []
