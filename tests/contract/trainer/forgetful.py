"""A Redis that keeps nothing, at a port that is known before it is there and after it was killed."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager

from rl_gym.infra.redis_server import redis_program
from rl_gym.infra.tether import tethered
from tests.contract.trainer.waiting import until

__all__ = ["forgetful_redis", "free_port"]


@contextmanager
def forgetful_redis(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server that keeps nothing."""
    program = redis_program()
    assert program is not None
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with subprocess.Popen(tethered([program, *options]), stdout=subprocess.DEVNULL) as process:
        try:
            until(lambda: accepts(port))
            yield process
        finally:
            process.kill()


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port: int = probe.getsockname()[1]
        return port


def accepts(port: int) -> bool:
    with closing(socket.socket()) as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
