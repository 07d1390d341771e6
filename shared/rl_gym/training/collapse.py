"""Collapse during GRPO, seen while it happens: nothing to learn from, nothing new tried, one answer for every prompt.

The trainer's log goes in row by row, alarms come out; they are kept in a file beside the model, which the gate reads.
The same rows give the same alarms, so that a resumed training ends with the file that an undisturbed one writes.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rl_gym.gym.audit import training_alarms
from rl_gym.gym.files import read_document, replace_text
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.training.files import read_rows
from rl_gym.training.recipe import CollapseSection
from rl_gym.training.run import Run

__all__ = ["ALARMS", "UNIQUE", "Alarm", "CollapseWatch", "read_alarms", "run_alarms", "write_alarms"]

ALARMS = "alarms.json"
"""The file of a stage's folder."""

UNIQUE = "unique_completions"
"""The logged share of distinct completions among those of a generation."""

What = Literal["reward_std", "entropy", "unique"]
_COLUMNS: Mapping[What, str] = {"reward_std": "reward_std", "entropy": "entropy", "unique": UNIQUE}
_SUCCESS_AT_THE_CEILING: frozenset[What] = frozenset({"reward_std", "entropy"})
_MEANING: Mapping[What, str] = {
    "reward_std": "the spread of the reward collapsed",
    "entropy": "the entropy of the policy collapsed",
    "unique": "the completions became one and the same",
}


class Alarm(BaseModel):
    """What fell below its threshold, at which step, and the values whose mean that was, oldest first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: What
    step: int
    mean: float
    threshold: float
    reward: float
    values: list[float]

    def __str__(self) -> str:
        return (
            f"{_MEANING[self.what]} at step {self.step}: {self.what} {self.mean:.4f} over the last "
            f"{len(self.values)} generations, threshold {self.threshold:g}, at a mean reward of {self.reward:.2f}"
        )


class CollapseWatch:
    """Reads the rows that TRL's GRPOTrainer logs, in order; each kind of alarm is raised once."""

    def __init__(self, section: CollapseSection) -> None:
        self._section = section
        self._rows: deque[Mapping[str, float]] = deque(maxlen=section.window)
        self.alarms: list[Alarm] = []

    def observe(self, row: Mapping[str, float]) -> Sequence[Alarm]:
        """The alarms that this row raises. Rows of steps without a generation of their own are passed over."""
        if "reward" not in row or not all(column in row for column in _COLUMNS.values()):
            return ()
        self._rows.append(row)
        raised = [*self._raised()] if len(self._rows) == self._section.window else []
        self.alarms += raised
        return raised

    def _raised(self) -> Iterator[Alarm]:
        reward = self._mean("reward")
        for what, column in _COLUMNS.items():
            threshold = getattr(self._section, what)
            success = what in _SUCCESS_AT_THE_CEILING and reward >= self._section.ceiling
            if (mean := self._mean(column)) < threshold and not success and what not in self._known():
                yield Alarm(
                    what=what,
                    step=int(self._rows[-1]["step"]),
                    mean=mean,
                    threshold=threshold,
                    reward=reward,
                    values=[row[column] for row in self._rows],
                )

    def _mean(self, column: str) -> float:
        return sum(row[column] for row in self._rows) / len(self._rows)

    def _known(self) -> set[What]:
        return {alarm.what for alarm in self.alarms}


def write_alarms(folder: Path, alarms: Sequence[Alarm]) -> None:
    """Leave the alarms in a stage's folder, and no file where there are none."""
    path = folder / ALARMS
    if alarms:
        replace_text(path, json.dumps({"alarms": [alarm.model_dump() for alarm in alarms]}, indent=2) + "\n")
    else:
        path.unlink(missing_ok=True)


def read_alarms(folder: Path) -> list[Alarm]:
    """The alarms of a stage's folder; UsageError, in one line, where the file is damaged."""
    path = folder / ALARMS
    try:
        document = read_document(path)
        return [Alarm.model_validate(row) for row in document["alarms"]]
    except NotFoundError:
        return []
    except (UsageError, ValidationError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is damaged: {str(error).splitlines()[0]}") from None


def run_alarms(run: Run, stage: str) -> list[str]:
    """Every alarm of a stage's training, in words: from its log, and from the watch over it.

    Raises UsageError where files of the stage were lost or changed since it ended: an alarm may not get lost.
    """
    metrics = run.metrics(stage)
    rows = read_rows(metrics) if metrics.exists() else []
    if run.ended(stage):
        run.stands(stage)
    watched = read_alarms(run.folder / stage)
    return [*training_alarms(rows), *map(str, watched)]
