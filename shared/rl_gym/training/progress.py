"""One progress bar for a whole run: each job has a share of it. Off a terminal, a plain line every tenth."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

__all__ = ["RunProgress"]

_TENTH = 0.1


class RunProgress:
    """Draws how far a run has come. `weights` gives each job its share of the whole, in any unit of effort."""

    def __init__(self, console: Console, weights: Mapping[str, float]) -> None:
        self._console = console
        self._weights = dict(weights)
        self._whole = sum(self._weights.values()) or 1.0
        self._parts = dict.fromkeys(self._weights, 0.0)
        self._told = 0.0
        self._bar = Progress(
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

    def update(self, job: str, done: float, total: float, note: str = "") -> None:
        """Job `job` has done `done` of `total` of its own units; `note` says more, in a few words."""
        if job not in self._parts:
            return
        self._parts[job] = min(1.0, done / total) if total else 1.0
        self._draw(f"{job} {done:.0f}/{total:.0f}{f'  {note}' if note else ''}")

    def finish(self, job: str) -> None:
        """Job `job` is done, or was done before and is skipped."""
        if job in self._parts:
            self._parts[job] = 1.0
            self._draw(job)

    def _draw(self, description: str) -> None:
        share = sum(self._weights[job] * part for job, part in self._parts.items()) / self._whole
        self._bar.update(self._task, completed=share, description=f"{description:<28}")
        if not self._console.is_terminal and share >= self._told + _TENTH - 1e-9:
            self._told = share
            self._console.print(f"  {share:4.0%}  {description}", highlight=False, markup=False)
