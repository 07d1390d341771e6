"""What is left on a worker's disk of runs that have ended, and goes once nobody is to be expected to go on with it.

A run's last stage removes its folder, and so does a worker that stops for a cancelled run. What stays is of runs that
failed, or were cancelled while they waited, or ended on another machine.
"""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import structlog

from rl_gym.infra.errors import RlGymError
from rl_gym.training.files import writing
from rl_gym.training.run import SCRATCH, locked
from services.trainer.delivery import Delivery
from services.trainer.settings import TrainerSettings

__all__ = ["Sweep", "mark"]

_log = structlog.get_logger("scratch")

_RUN = re.compile(r"\d{8}-[0-9a-f]+")
_EACH_SECONDS = 3_600.0
_MOST_ASKED = 1_000
_MOST_REMOVED = 100


def mark(folder: Path) -> None:
    """Say of a run folder that it is a worker's own; InfrastructureError where the disk refuses."""
    with writing(folder / SCRATCH):
        (folder / SCRATCH).touch()


class Sweep:
    """Removes, once an hour at most, the folders of runs that ended `scratch_seconds` ago. It never raises."""

    def __init__(self, settings: TrainerSettings) -> None:
        self._root = settings.runs.absolute()
        self._kept_seconds = settings.scratch_seconds
        self._next = 0.0

    def __call__(self, delivery: Delivery) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EACH_SECONDS
        try:
            ended = delivery.ended(self._there(), self._kept_seconds)
        except (RlGymError, OSError) as error:
            _log.warning("what may be removed of runs that have ended cannot be told for now", reason=str(error))
            return
        for run in ended[:_MOST_REMOVED]:
            self._remove(self._root / run)

    def _there(self) -> list[str]:
        """The runs, the oldest first, of which something is left here."""
        marks = sorted(self._root.glob(f"*/{SCRATCH}"))
        return [mark.parent.name for mark in marks if _RUN.fullmatch(mark.parent.name)][:_MOST_ASKED]

    def _remove(self, folder: Path) -> None:
        try:
            with locked(folder):
                shutil.rmtree(folder)
        except (RlGymError, OSError) as error:
            _log.warning("what is left of a run stays", run=folder.name, reason=str(error))
        else:
            _log.info("what was left of a run is removed", run=folder.name)
