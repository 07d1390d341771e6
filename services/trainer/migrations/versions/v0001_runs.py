"""Runs with their stages and events, models, and what only one stage may use at a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "v0001"
down_revision = None

NAME = sa.String(200)
DIGEST = sa.String(64)
STATE = sa.String(16)
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", NAME, nullable=False),
        sa.Column("key", NAME),
        sa.Column("spec", sa.JSON, nullable=False),
        sa.Column("config", sa.JSON, nullable=False),
        sa.Column("code_version", sa.String(64), nullable=False),
        sa.Column("state", STATE, nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("cancelled", TIME),
        sa.Column("last_event", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("key", name="uq_runs_key"),
    )
    op.create_index("ix_runs_created", "runs", ["created"])
    op.create_table(
        "stages",
        sa.Column("run_id", NAME, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("resource", NAME),
        sa.Column("state", STATE, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("last_attempt", sa.Integer, nullable=False),
        sa.Column("owner", NAME),
        sa.Column("deadline", TIME),
        sa.Column("not_before", TIME),
        sa.Column("sent", TIME),
        sa.Column("started", TIME),
        sa.Column("ended", TIME),
        sa.Column("progress", sa.JSON),
        sa.Column("manifest_digest", DIGEST),
        sa.Column("error", sa.JSON),
        sa.PrimaryKeyConstraint("run_id", "position", name="pk_stages"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_stages_run_id"),
        sa.UniqueConstraint("run_id", "name", name="uq_stages_run_id_name"),
    )
    op.create_index("ix_stages_state", "stages", ["state"])
    op.create_index("ix_stages_deadline", "stages", ["deadline"])
    op.create_table(
        "events",
        sa.Column("run_id", NAME, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("time", TIME, nullable=False),
        sa.Column("stage", NAME),
        sa.Column("state", STATE, nullable=False),
        sa.Column("progress", sa.JSON),
        sa.Column("detail", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "number", name="pk_events"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_events_run_id"),
    )
    op.create_table(
        "resources",
        sa.Column("name", NAME, nullable=False),
        sa.Column("token", sa.Integer, nullable=False),
        sa.Column("run_id", NAME),
        sa.Column("position", sa.Integer),
        sa.PrimaryKeyConstraint("name", name="pk_resources"),
        sa.ForeignKeyConstraint(
            ["run_id", "position"], ["stages.run_id", "stages.position"], name="fk_resources_run_id_position"
        ),
    )
    op.create_table(
        "models",
        sa.Column("name", NAME, nullable=False),
        sa.Column("base", NAME, nullable=False),
        sa.Column("parent", NAME),
        sa.Column("adapter_digest", DIGEST, nullable=False),
        sa.Column("data_digest", DIGEST, nullable=False),
        sa.Column("ruleset_digest", DIGEST, nullable=False),
        sa.Column("code_version", sa.String(64), nullable=False),
        sa.Column("run_id", NAME, nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_models"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_models_run_id"),
    )
    op.create_index("ix_models_run_id", "models", ["run_id"])
    op.create_index("ix_models_created", "models", ["created"])


def downgrade() -> None:
    for table in ("models", "resources", "events", "stages", "runs"):
        op.drop_table(table)
