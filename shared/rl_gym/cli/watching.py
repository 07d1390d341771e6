"""A run at a trainer, watched on the terminal until it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rl_gym.infra.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from rl_gym.training.progress import RunProgress
    from rl_gym.wire.clients.trainer import TrainerClient
    from rl_gym.wire.run import Run, RunEvent, StageStatus

__all__ = ["require_done", "watch_run"]

_LONG = ("rollout", "evaluate", "bakeoff")
_SHARE = 10.0
"""Of a stage that trains or runs models, in the length of the bar, against one of any other."""


def watch_run(console: Console, client: TrainerClient, run: Run) -> Run:
    """Draw how far a run is until it has ended; the run as it is then.

    Raises KeyboardInterrupt where the caller was interrupted, with what becomes of the run.
    """
    from rl_gym.training.chain import trainers
    from rl_gym.training.progress import RunProgress

    names = tuple(stage.stage for stage in run.stages)
    long = {*trainers(names), *_LONG}
    try:
        with RunProgress(console, {name: _SHARE if name in long else 1.0 for name in names}) as progress:
            for event in client.watch(run.id):
                _tell(progress, event)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"run {run.id} goes on without you: `rl-gym runs watch {run.id}` looks again, "
            f"`rl-gym runs cancel {run.id}` ends it"
        ) from None
    return client.run(run.id)


def _tell(progress: RunProgress, event: RunEvent) -> None:
    stage, state = event.stage, event.state
    if stage is None:
        return
    if event.progress is not None:
        told = event.progress
        if told.reward is not None:
            progress.measured(stage, told.step, {"reward": told.reward})
        progress.update(stage, told.step, told.steps, seconds_left=told.seconds_left)
    elif state == "done":
        progress.finish(stage)
    elif state != "running":
        progress.say(f"{stage}: {event.detail or state}")


def require_done(run: Run) -> None:
    """Raise what a run ended with, unless it is done: UsageError for a user's mistake, else InfrastructureError."""
    if run.state == "done":
        return
    if run.state == "cancelled":
        raise UsageError(f"run {run.id} was cancelled")
    stage = next((one for one in run.stages if one.state == run.state), None)
    why = f"run {run.id} is {run.state}{_why(stage) if stage else ''}"
    if run.state == "failed":
        raise UsageError(why)
    raise InfrastructureError(f"{why}; once that is mended: `rl-gym runs retry {run.id}`")


def _why(stage: StageStatus) -> str:
    said = f": {stage.error.detail}" if stage.error else ""
    return f": stage {stage.stage}, attempt {stage.attempt}{said}"
