"""One progress bar for a whole run: each job has a share of it. Off a terminal, a plain line every tenth."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

__all__ = ["Progress", "RunProgress"]

_TENTH = 0.1


class Progress(Protocol):
    """Whom a run tells how far it is. Any method may raise, to stop it."""

    def update(self, job: str, done: float, total: float) -> None:
        """Job `job` has done `done` of `total` of its own units."""

    def finish(self, job: str) -> None:
        """Job `job` is done, or was done before and is skipped."""

    def measured(self, job: str, step: int, values: Mapping[str, float]) -> None:
        """What a trainer logged after a step."""

    def say(self, text: str) -> None:
        """A line for a person."""

    def check(self) -> None:
        """Called now and then while nothing else is to be told."""


class RunProgress:
    """Draws how far a run has come. `weights` gives each job its share of the whole, in any unit of effort."""

    def __init__(self, console: Console, weights: Mapping[str, float]) -> None:
        self._console = console
        self._weights = dict(weights)
        self._whole = sum(self._weights.values()) or 1.0
        self._parts = dict.fromkeys(self._weights, 0.0)
        self._told = 0.0
        self._rewards: dict[str, str] = {}
        self._bar = Bar(
            TextColumn("{task.description}", justify="left"),
            BarColumn(bar_width=40),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=1.0)

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, job: str, done: float, total: float, *, seconds_left: float | None = None) -> None:
        """Job `job` has done `done` of `total` of its own units, and may need so much more time."""
        if job not in self._parts:
            return
        self._parts[job] = min(1.0, done / total) if total else 1.0
        said = [f"{job} {done:.0f}/{total:.0f}"]
        if 0 < done < total:
            said += [self._rewards[job]] if job in self._rewards else []
            said += [f"{timedelta(seconds=round(seconds_left))} left"] if seconds_left is not None else []
        self._draw("  ".join(said))

    def finish(self, job: str) -> None:
        """Job `job` is done, or was done before and is skipped."""
        if job in self._parts:
            self._parts[job] = 1.0
            self._draw(job)

    def measured(self, job: str, step: int, values: Mapping[str, float]) -> None:
        """Keep the reward of a step, to be drawn with how far it is."""
        if "reward" in values:
            self._rewards[job] = f"reward {values['reward']:.3f}"

    def check(self) -> None:
        """Nothing stops a run on a terminal but a person."""

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, highlight=False, markup=False)

    def _draw(self, description: str) -> None:
        share = sum(self._weights[job] * part for job, part in self._parts.items()) / self._whole
        self._bar.update(self._task, completed=share, description=f"{description:<28}")
        if not self._console.is_terminal and share >= self._told + _TENTH - 1e-9:
            self._told = share
            self._console.print(f"  {share:4.0%}  {description}", highlight=False, markup=False)
