"""The database: SQLite in a file or Postgres by address, transactions at the edge, its faults in one line.

Every time that is stored or compared is the database's own (`Database.now`), so that machines whose clocks disagree
agree on what has expired. A file of SQLite is used by one machine alone, whose clock that is.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    DateTime,
    Dialect,
    Engine,
    TypeDecorator,
    create_engine,
    event,
    func,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from rl_gym.infra.errors import InfrastructureError, UsageError, one_line
from rl_gym.infra.settings import Settings

__all__ = ["Database", "UtcTime", "database_address", "open_database"]

_FILE = "rl-gym.sqlite"
_DRIVERS = {
    "sqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_WAIT_SECONDS = 20
"""How long a transaction waits for others."""

_PAUSE_SECONDS = 0.02

_READING = "rl_gym_reading"
_POSTGRES: dict[str, Any] = {
    "connect_timeout": 5,
    # Whatever becomes of a network or of a client, nobody waits for ever, for it or for a row that it locked.
    "tcp_user_timeout": _WAIT_SECONDS * 1_000,
    "options": f"-c lock_timeout={_WAIT_SECONDS}s -c statement_timeout=30s -c idle_in_transaction_session_timeout=60s",
}


class UtcTime(TypeDecorator[datetime]):
    """A moment, aware and in UTC, in databases that know of zones and in those that do not."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Database:
    """A database by its engine. Where it fails, every method raises InfrastructureError, without its credentials."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        """What it is called in errors and logs: its kind and place, without who may use it."""
        url = self._engine.url
        place = url.database if self.is_sqlite else f"{url.host or ''}:{url.port or 5432}/{url.database or ''}"
        return f"{url.get_backend_name()} {place}"

    @property
    def is_sqlite(self) -> bool:
        return self._engine.dialect.name == "sqlite"

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction: committed at the end, rolled back by any exception. With SQLite there is one at a time.

        An IntegrityError is left as it is: only its statement's author can say what it means.
        """
        with self._faults(), Session(self._engine, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that only reads, and with SQLite waits for nobody."""
        engine = self._engine.execution_options(**{_READING: True})
        with self._faults(), Session(engine, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """As `writing`, below the level of sessions."""
        with self._faults(), self._engine.begin() as connection:
            yield connection

    def now(self, session: Session) -> datetime:
        """The time by the database's clock, aware; not that of the transaction's begin, which may have waited since."""
        if self.is_sqlite:
            return datetime.now(UTC)
        moment: datetime = session.scalars(select(func.clock_timestamp())).one()
        return moment.astimezone(UTC)

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._engine.dispose()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise
        except (DBAPIError, PoolTimeoutError) as error:
            reason = str(error.orig if isinstance(error, DBAPIError) else error)
            password = self._engine.url.password
            text = reason.replace(password, "...") if password else reason
            raise InfrastructureError(f"the database ({self.name}) failed: {one_line(text, 300)}") from None


def database_address(settings: Settings) -> str:
    """`RL_GYM_DATABASE`, else a file of SQLite in the folder of runs."""
    return settings.database.get_secret_value() or f"sqlite:///{settings.runs / _FILE}"


def open_database(address: str) -> Database:
    """The database at `sqlite:///path` or `postgresql://user:password@host/name`; nothing is asked of it yet.

    Raises UsageError where the address is of no such kind; InfrastructureError where the folder of a file cannot be
    made.
    """
    try:
        url = make_url(address)
        driver = _DRIVERS[url.drivername]
    except (ArgumentError, KeyError, ValueError):
        raise UsageError(
            f"{Settings.variable('database')}: sqlite:///path or postgresql://user:password@host/name is needed"
        ) from None
    url = url.set(drivername=driver)
    return Database(_sqlite(url) if driver == "sqlite" else _postgres(url))


def _postgres(url: URL) -> Engine:
    # Asked before each use, since a restart of the server leaves connections that are dead.
    return create_engine(url, pool_pre_ping=True, pool_size=5, max_overflow=10, connect_args=_POSTGRES)


def _sqlite(url: URL) -> Engine:
    if not url.database or url.database == ":memory:":
        raise UsageError(f"{Settings.variable('database')}: sqlite:///path needs the path of a file")
    try:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InfrastructureError(f"{url.database}: its folder cannot be made: {error.strerror or error}") from None
    engine = create_engine(url, connect_args={"timeout": _WAIT_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")
    # FULL, since a commit that others acted upon must not vanish with the power.
    connection.execute("PRAGMA synchronous=FULL")
    # The mode is of the file, and is changed once.
    end = time.monotonic() + _WAIT_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            # Unlike other statements it waits for nobody who writes, or changes it just now.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                raise
            time.sleep(_PAUSE_SECONDS)


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and then writes would fail, not wait, where another wrote in between.
    reading = connection.get_execution_options().get(_READING, False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
