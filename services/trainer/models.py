"""The tables of the trainer: runs, their stages and events, the models that came of them, and what only one may use."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, ForeignKey, ForeignKeyConstraint, MetaData, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, WriteOnlyMapped, mapped_column, relationship

from rl_gym.infra.database import UtcTime
from rl_gym.wire.run import RunState

__all__ = ["Base", "EventRow", "ModelRow", "ResourceRow", "RunRow", "StageRow"]

NAME = 200
DIGEST = 64


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcTime,
        dict[str, Any]: JSON(none_as_null=True),
        RunState: String(16),
    }


class RunRow(Base):
    """A run. Whoever changes anything of it locks this row first."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(NAME), primary_key=True)
    key: Mapped[str | None] = mapped_column(String(NAME), unique=True)
    spec: Mapped[dict[str, Any]]
    config: Mapped[dict[str, Any]]
    code_version: Mapped[str] = mapped_column(String(64))
    state: Mapped[RunState]
    created: Mapped[datetime] = mapped_column(index=True)
    cancelled: Mapped[datetime | None]
    last_event: Mapped[int] = mapped_column(default=0)

    stages: Mapped[list[StageRow]] = relationship(back_populates="run", order_by="StageRow.position", lazy="selectin")
    events: WriteOnlyMapped[EventRow] = relationship()


class StageRow(Base):
    """A stage of a run, and the lease of the attempt that is at work on it.

    `attempt` counts the claims and is their fencing token: it rises with each and never falls. `owner` and `deadline`
    are set while it is running, and then alone. `sent` is when a worker was last told of it, since it came to wait.
    """

    __tablename__ = "stages"
    __table_args__ = (UniqueConstraint("run_id", "name"),)

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME))
    resource: Mapped[str | None] = mapped_column(String(NAME))
    state: Mapped[RunState] = mapped_column(index=True)
    attempt: Mapped[int] = mapped_column(default=0)
    last_attempt: Mapped[int]
    owner: Mapped[str | None] = mapped_column(String(NAME))
    deadline: Mapped[datetime | None] = mapped_column(index=True)
    not_before: Mapped[datetime | None]
    sent: Mapped[datetime | None]
    started: Mapped[datetime | None]
    ended: Mapped[datetime | None]
    progress: Mapped[dict[str, Any] | None]
    manifest_digest: Mapped[str | None] = mapped_column(String(DIGEST))
    error: Mapped[dict[str, Any] | None]

    run: Mapped[RunRow] = relationship(back_populates="stages")


class EventRow(Base):
    """Something that happened in a run; without a stage it happened to the run as a whole."""

    __tablename__ = "events"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    time: Mapped[datetime]
    stage: Mapped[str | None] = mapped_column(String(NAME))
    state: Mapped[RunState]
    progress: Mapped[dict[str, Any] | None]
    detail: Mapped[str] = mapped_column(Text)


class ResourceRow(Base):
    """What one stage may use at a time, a machine's GPU say; the stage's lease is that of the resource too.

    `token` rises each time that it is taken, so that what is written with an older one can be refused. `run_id` and
    `position` are the stage that has it, if any.
    """

    __tablename__ = "resources"
    __table_args__ = (ForeignKeyConstraint(["run_id", "position"], ["stages.run_id", "stages.position"]),)

    name: Mapped[str] = mapped_column(String(NAME), primary_key=True)
    token: Mapped[int] = mapped_column(default=0)
    run_id: Mapped[str | None]
    position: Mapped[int | None]


class ModelRow(Base):
    """A trained model with its lineage."""

    __tablename__ = "models"

    name: Mapped[str] = mapped_column(String(NAME), primary_key=True)
    base: Mapped[str] = mapped_column(String(NAME))
    base_digest: Mapped[str | None] = mapped_column(String(DIGEST))
    parent: Mapped[str | None] = mapped_column(String(NAME))
    adapter_digest: Mapped[str] = mapped_column(String(DIGEST))
    data_digest: Mapped[str] = mapped_column(String(DIGEST))
    ruleset_digest: Mapped[str] = mapped_column(String(DIGEST))
    code_version: Mapped[str] = mapped_column(String(64))
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), index=True)
    created: Mapped[datetime] = mapped_column(index=True)
