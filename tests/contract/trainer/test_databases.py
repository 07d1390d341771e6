"""What the trainer needs of a database, of SQLite and of Postgres alike."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from rl_gym.infra.database import Database, open_database
from rl_gym.infra.errors import InfrastructureError
from rl_gym.infra.migrations import migrate
from rl_gym.wire import RunSpec
from services.trainer.delivery import Delivery, StagePlan
from services.trainer.leases import Terms
from services.trainer.models import Base
from services.trainer.settings import MIGRATIONS
from tests.contract.trainer.postgres import Postgres

ROOT = Path(__file__).resolve().parents[3]
MIGRATES = """\
import sys
sys.path[:0] = ["shared", "."]
from rl_gym.infra.database import open_database
from rl_gym.infra.migrations import migrate
from services.trainer.settings import MIGRATIONS
migrate(open_database(sys.argv[1]), MIGRATIONS)
"""


def delivery(database: Database, lease_seconds: float = 45) -> Delivery:
    return Delivery(database, Terms(lease_seconds=lease_seconds), lambda run, stage: None)


def test_the_migrations_make_the_tables_that_the_code_names(database: Database) -> None:
    with database.connection() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_services_that_start_at_once_migrate_once(address: str) -> None:
    started = [subprocess.Popen([sys.executable, "-c", MIGRATES, address], cwd=ROOT) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    database = open_database(address)
    assert delivery(database).runs() == []
    database.close()


def test_a_newer_database_is_refused(database: Database) -> None:
    with database.connection() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'v9999'"))
    with pytest.raises(InfrastructureError, match=r"cannot be migrated: .*v9999.*was a newer version here"):
        migrate(database, MIGRATIONS)


def test_a_migration_that_fails_leaves_nothing(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    (folder / "env.py").write_text((MIGRATIONS / "env.py").read_text())
    (folder / "versions" / "one.py").write_text(
        'revision, down_revision = "one", None\n'
        "def upgrade():\n"
        "    from alembic import op\n"
        '    op.execute("CREATE TABLE half (id INTEGER)")\n'
        '    op.execute("CREATE TABLE half (id INTEGER)")\n'
    )
    database = open_database(address)
    with pytest.raises(InfrastructureError, match="half"):
        migrate(database, folder)
    migrate(database, MIGRATIONS)
    with pytest.raises(InfrastructureError, match="half"), database.reading() as session:
        session.execute(text("SELECT * FROM half"))
    database.close()


def test_a_run_is_the_same_after_a_restart(address: str) -> None:
    first, second = open_database(address), open_database(address)
    migrate(first, MIGRATIONS)
    run = delivery(first).submit(RunSpec(preset="nano", seed=3), {"name": "Grüße, 世界"}, [StagePlan("sft", "gpu")])
    lease = delivery(first).claim(run.id, "sft", "ana")
    first.close()
    assert lease is not None
    assert delivery(second).config(run.id) == {"name": "Grüße, 世界"}
    delivery(second).finish(lease, "0123456789ab")
    assert delivery(second).run(run.id).state == "done"
    second.close()


def test_one_key_at_the_same_time_is_one_run(database: Database) -> None:
    spec = RunSpec(preset="nano", idempotency_key="k")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: delivery(database).submit(spec, {}, [StagePlan("sft", "gpu")]).id, range(16)))
    assert len(set(made)) == 1
    assert len(delivery(database).runs()) == 1


def test_leases_are_by_the_clock_of_the_database(database: Database) -> None:
    run = delivery(database).submit(RunSpec(preset="nano"), {}, [StagePlan("sft")])
    brief = delivery(database, lease_seconds=0.01)
    assert brief.claim(run.id, "sft", "ana") is not None
    with database.reading() as session:
        claimed = database.now(session)
    while brief.run(run.id).stages[0].state == "running":
        brief.reconcile()
    ended = brief.run(run.id).stages[0].ended
    assert ended is not None
    assert (ended - claimed).total_seconds() < 60
    assert brief.claim(run.id, "sft", "ben") is not None


def test_postgres_may_be_down_for_a_while(postgres: Postgres) -> None:
    database = open_database(postgres.fresh_database("restarted"))
    migrate(database, MIGRATIONS)
    run = delivery(database).submit(RunSpec(preset="nano"), {}, [StagePlan("sft")])
    postgres.stop()
    with pytest.raises(InfrastructureError, match=r"^the database \(postgresql .*/restarted\) failed: ") as down:
        delivery(database).claim(run.id, "sft", "ana")
    assert not any(word in str(down.value) for word in ("trainer", "secret", "\n"))
    postgres.start()
    assert delivery(database).reconcile() == 0
    assert delivery(database).claim(run.id, "sft", "ana") is not None
    database.close()
