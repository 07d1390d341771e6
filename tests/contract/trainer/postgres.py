"""A Postgres server of one's own: on a free port of loopback, its data in a folder that goes with it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from rl_gym.infra.tether import tethered
from tests.contract.trainer.waiting import until

__all__ = ["PASSWORD", "Postgres", "postgres_programs"]

PASSWORD = "a%2Fsecret"
"""As it stands in the address, where what could not stand there is escaped."""

_UNPRIVILEGED = ("postgres", "nobody")


def postgres_programs() -> Path | None:
    """The folder with `initdb` and `postgres`, if they are on this machine."""
    if config := shutil.which("pg_config"):
        told = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=False).stdout.strip()
        if (Path(told) / "initdb").is_file():
            return Path(told)
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


@dataclass
class Postgres:
    """A server that can be stopped and started again with what it holds."""

    programs: Path
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="postgres-")))
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as probe:
            self.port = probe.getsockname()[1]
        password = self.folder / "password"
        password.write_text("a/secret\n")
        if os.getuid() == 0:
            for path in (self.folder, password):
                shutil.chown(path, _unprivileged())
        self._run("initdb", "--username=trainer", "--auth=scram-sha-256", f"--pwfile={password}", "--no-sync")

    @property
    def address(self) -> str:
        return f"postgresql://trainer:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = ["-p", str(self.port), "-h", "127.0.0.1", "-k", str(self.folder), "-c", "fsync=off"]
        command = [str(self.programs / "postgres"), "-D", str(self.folder / "data"), *options]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(_lowered(command), cwd=self.folder, stdout=quiet, stderr=quiet)
        until(self._answers)

    def stop(self) -> None:
        """Stop at once, breaking the connections there are."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)
            self.process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def fresh_database(self, name: str) -> str:
        """The address of a new, empty database."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.address.removesuffix("postgres") + name

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.address, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program: str, *options: str) -> None:
        command = [str(self.programs / program), "-D", str(self.folder / "data"), "--encoding=UTF8", *options]
        subprocess.run(_lowered(command), cwd=self.folder, capture_output=True, check=True)


def _lowered(command: Sequence[str]) -> list[str]:
    """The command that runs and ends with us, and never as root, since Postgres refuses to."""
    if os.getuid() != 0:
        return tethered(command)
    return ["setpriv", f"--reuid={_unprivileged()}", "--clear-groups", "--pdeathsig=TERM", *command]


def _unprivileged() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _UNPRIVILEGED if name in known)
