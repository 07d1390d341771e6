"""The digest of the base that a model was trained from: a folder's name says little of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "v0002"
down_revision = "v0001"


def upgrade() -> None:
    op.add_column("models", sa.Column("base_digest", sa.String(64)))


def downgrade() -> None:
    op.drop_column("models", "base_digest")
