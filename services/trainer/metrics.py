"""What the trainer's API measures beside its HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge

from rl_gym.wire.run import RunState

__all__ = ["TrainerMetrics"]


class TrainerMetrics:
    """Runs by state, as they were when last counted, and what was asked for."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._runs = Gauge("rl_gym_trainer_runs", "Runs by state", ("state",), registry=registry)
        self.submitted = Counter(
            "rl_gym_trainer_submitted", "Runs that were taken, by mode, repetitions too", ("mode",), registry=registry
        )
        self.watched = Gauge("rl_gym_trainer_watched", "Requests that wait for events", registry=registry)

    def counted(self, runs: Mapping[RunState, int]) -> None:
        """Tell how many runs are in each state."""
        for state in get_args(RunState):
            self._runs.labels(state).set(runs.get(state, 0))
