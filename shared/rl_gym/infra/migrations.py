"""Bringing a database's tables up to date, by whichever process comes first."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import text

from rl_gym.infra.database import Database
from rl_gym.infra.errors import InfrastructureError

__all__ = ["migrate"]

_LOCK = 0x726C2D67796D
"""The number of Postgres' advisory lock; that of no other program, hopefully."""

_LOCK_MINUTES = 5


def migrate(database: Database, folder: Path) -> None:
    """Apply the migrations of an alembic folder that the database lacks, all or none.

    One process does so at a time; the others wait and find nothing left to do. Raises InfrastructureError where the
    database fails, or knows a migration that this version does not.
    """
    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    with database.connection() as connection:
        # With SQLite the transaction itself keeps the others out.
        if not database.is_sqlite:
            connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_MINUTES}min'"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise InfrastructureError(
                f"the database ({database.name}) cannot be migrated: {error}; was a newer version here?"
            ) from error
