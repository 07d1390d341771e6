"""The columns of this service: the promoted model and its base at the own engine, and perhaps an outside model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from rl_gym.infra.errors import BusyError, ForbiddenError, InfrastructureError, NotFoundError
from rl_gym.serving.columns import Column
from rl_gym.serving.deployment import Deployment
from rl_gym.wire.generate import ColumnName
from services.policy.supervision import Engine

__all__ = ["Columns"]


class Columns:
    """Finds the column that a request names; the tuned one stays with the model that it began with."""

    def __init__(self, columns: Sequence[Column], deployment: Deployment, engine: Engine, closed: bool) -> None:
        self._columns = {column.name: column for column in columns}
        self._deployment, self._engine, self._closed = deployment, engine, closed

    @property
    def all(self) -> list[Column]:
        """Every column, the tuned one with the model that it serves now."""
        return [self._now(column) for column in self._columns.values()]

    @property
    def base(self) -> Column:
        """The column of the engine's base model."""
        return self._columns["base"]

    def _now(self, column: Column) -> Column:
        return replace(column, served=self._deployment.current()) if column.name == "tuned" else column

    def check(self, names: Sequence[ColumnName]) -> None:
        """Raises NotFoundError for a column that there is not, ForbiddenError for one beyond a closed boundary."""
        for name in names:
            if name == "external" and self._closed:
                raise ForbiddenError("column 'external': this deployment asks no model outside of it")
            if name not in self._columns:
                raise NotFoundError(f"there is no column {name!r} here: choose among {', '.join(self._columns)}")

    def find(self, model: str | None) -> ColumnName:
        """The column of a model's name, or of its own; None means the tuned one. Raises NotFoundError."""
        if model is None:
            return "tuned"
        for column in self.all:
            if model in (column.name, column.served.name):
                return column.name
        known = ", ".join(dict.fromkeys(name for column in self.all for name in (column.name, column.served.name)))
        raise NotFoundError(f"there is no model {model!r} here: choose among {known}")

    @contextmanager
    def chosen(self, name: ColumnName) -> Iterator[Column]:
        """A column for as long as an answer takes: its model is not unloaded before."""
        column = self._columns[name]
        if name == "tuned":
            with self._deployment.lease() as served:
                yield replace(column, served=served)
        else:
            yield column

    def check_room(self, names: Sequence[ColumnName], sequences: int) -> None:
        """Raises BusyError where none of these columns could take in so many sequences now."""
        refusals = []
        for name in names:
            try:
                self._columns[name].place.admission.check(sequences)
            except BusyError as error:
                refusals.append(error)
        if len(refusals) == len(names):
            raise refusals[0]

    def check_up(self, column: Column) -> None:
        """Raises InfrastructureError where the own engine does not answer now."""
        state = self._engine.state()
        if column.name != "external" and state.status not in ("ready", "draining"):
            raise InfrastructureError(f"the engine is {state.status}{f': {state.trouble}' if state.trouble else ''}")
