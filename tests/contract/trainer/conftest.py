"""Databases for the trainer: a file of SQLite always, Postgres where it is on the machine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the extra services is not installed")

from rl_gym.infra.database import Database, open_database
from rl_gym.infra.migrations import migrate
from services.trainer.settings import MIGRATIONS
from tests.contract.trainer.postgres import Postgres, postgres_programs

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running Postgres."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("no Postgres on this machine: neither pg_config nor initdb leads to one")
    server = Postgres(programs)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new, empty database of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'trainer.sqlite'}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.fresh_database(f"test{next(_numbers)}")


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    """A new database with the trainer's tables."""
    opened = open_database(address)
    migrate(opened, MIGRATIONS)
    yield opened
    opened.close()
