"""The database: durable SQLite by default, transactions that hold, and faults in one line without credentials."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the extra services is not installed")

from pydantic import SecretStr
from sqlalchemy import ForeignKey, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from rl_gym.infra.database import Database, UtcTime, database_address, open_database
from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.infra.settings import Settings


class Base(DeclarativeBase):
    type_annotation_map = {datetime: UtcTime}  # noqa: RUF012


class Moment(Base):
    __tablename__ = "moments"

    id: Mapped[int] = mapped_column(primary_key=True)
    time: Mapped[datetime | None]
    after: Mapped[int | None] = mapped_column(ForeignKey("moments.id"))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(f"sqlite:///{tmp_path / 'below' / 'x.sqlite'}")
    with opened.connection() as connection:
        Base.metadata.create_all(connection)
    yield opened
    opened.close()


def test_without_an_address_it_is_a_file_in_the_folder_of_runs(tmp_path: Path) -> None:
    assert database_address(Settings(runs=tmp_path)) == f"sqlite:///{tmp_path / 'rl-gym.sqlite'}"
    assert database_address(Settings(database=SecretStr("postgresql://a/b"))) == "postgresql://a/b"


@pytest.mark.parametrize(
    "address", ["", "x", "mysql://u:secret@h/d", "sqlite://", "sqlite:///:memory:", "http://[secret"]
)
def test_an_address_of_another_kind_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(UsageError, match=r"^RL_GYM_DATABASE: sqlite:///path") as refused:
        open_database(address)
    assert "secret" not in str(refused.value)


def test_what_is_committed_survives_and_keys_are_kept(database: Database) -> None:
    with database.reading() as session:
        found = [session.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("journal_mode", "synchronous")]
    assert found == ["wal", 2]
    with pytest.raises(IntegrityError), database.writing() as session:
        session.add(Moment(id=1, after=7))


def test_who_opens_a_file_first_waits_for_whoever_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writer.executescript("CREATE TABLE t (x); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
    later = threading.Timer(0.3, writer.execute, ["COMMIT"])
    later.start()
    opened = open_database(f"sqlite:///{path}")
    with opened.reading() as session:
        assert session.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
    opened.close()
    later.join()
    writer.close()


def test_a_transaction_is_all_or_nothing(database: Database) -> None:
    with contextlib.suppress(ZeroDivisionError), database.writing() as session:
        session.add(Moment(id=1))
        session.flush()
        raise ZeroDivisionError
    with database.reading() as session:
        assert session.get(Moment, 1) is None


def test_a_reader_waits_for_no_writer_and_sees_what_was_committed(database: Database) -> None:
    with database.writing() as writing:
        writing.add(Moment(id=1))
        writing.flush()
        with database.reading() as reading:
            assert reading.get(Moment, 1) is None
    with database.reading() as reading:
        assert reading.get(Moment, 1) is not None


def test_times_are_aware_and_in_utc(database: Database) -> None:
    noon = datetime(2026, 1, 2, 12, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))
    with database.writing() as session:
        session.add(Moment(id=1, time=noon))
        session.add(Moment(id=2, time=None))
    with database.reading() as session:
        assert session.get_one(Moment, 1).time == noon
        assert session.get_one(Moment, 1).time.tzinfo is UTC
        assert session.get_one(Moment, 2).time is None
        assert database.now(session).tzinfo is UTC


def test_a_database_that_is_down_is_a_fault_without_its_credentials() -> None:
    database = open_database("postgresql://ana:s3cret@127.0.0.1:1/runs")
    with pytest.raises(InfrastructureError) as failed, database.reading() as session:
        session.execute(text("SELECT 1"))
    assert str(failed.value).startswith("the database (postgresql 127.0.0.1:1/runs) failed: ")
    assert not {"ana", "s3cret", "\n"} & {word for word in ("ana", "s3cret", "\n") if word in str(failed.value)}


def test_a_file_that_is_no_database_is_a_fault_of_that_file(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"no database" * 1_000)
    with pytest.raises(InfrastructureError, match=rf"sqlite {path}\) failed: file is not a database"):
        open_database(f"sqlite:///{path}").connection().__enter__()


def test_a_folder_that_cannot_be_made_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InfrastructureError, match="its folder cannot be made"):
        open_database(f"sqlite:///{tmp_path / 'file' / 'x.sqlite'}")
