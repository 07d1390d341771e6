"""What happens beside a training, inside its child: reports to the parent, the guard over the loss, the collapse watch.

All three only look; none draws a random number or touches a weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from rl_gym.infra.errors import UsageError
from rl_gym.training import checkpoints
from rl_gym.training.collapse import CollapseWatch, write_alarms
from rl_gym.training.recipe import CollapseSection, GrpoSection, Supervised

if TYPE_CHECKING:
    from rl_gym.training.child import Channel

__all__ = ["Collapse", "LossGuard", "Reporter"]

_LOSSES_TOLD = 5


class Reporter(TrainerCallback):  # type: ignore[misc]
    """Tells the parent each step and what the trainer logged, and marks checkpoints that are whole.

    `groups` is how many groups a generation holds: the logged share of them without any spread is told as a count too.
    """

    def __init__(self, job: str, channel: Channel, *, groups: int = 0) -> None:
        self._job = job
        self._channel = channel
        self._groups = groups

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._channel.progress(self._job, state.global_step, state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        numbers = {name: float(value) for name, value in (logs or {}).items() if isinstance(value, int | float)}
        values = {name: value for name, value in numbers.items() if math.isfinite(value)}
        if "frac_reward_zero_std" in values:
            values["zero_variance_groups"] = float(round(values["frac_reward_zero_std"] * self._groups))
        self._channel.metrics(self._job, state.global_step, values)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        # Each process writes its own random state.
        args.distributed_state.wait_for_everyone()
        if state.is_world_process_zero:
            checkpoints.mark(Path(args.output_dir) / f"checkpoint-{state.global_step}")


class LossGuard(TrainerCallback):  # type: ignore[misc]
    """Ends a training whose loss or gradient is no number any more: no later step can mend the weights."""

    def __init__(self, job: str, section: Supervised | GrpoSection) -> None:
        self._job = job
        self._section = section

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        """Raise UsageError that tells the step, the losses up to it, and the keys to turn."""
        for name in ("loss", "grad_norm"):
            value = float((logs or {}).get(name, 0.0))
            if not math.isfinite(value):
                what = "loss" if name == "loss" else "gradient"
                raise UsageError(
                    f"the {what} is {value} at step {state.global_step} (losses: {_losses(state.log_history)}): "
                    f"{self._advice()}"
                )

    def _advice(self) -> str:
        job, section = self._job, self._section
        advice = (
            f"lower {job}.learning_rate ({section.learning_rate:g}) or raise {job}.warmup_steps "
            f"({section.warmup_steps:g})"
        )
        return advice if section.precision == "fp32" else f"{advice}, or set {job}.precision=fp32"


class Collapse(TrainerCallback):  # type: ignore[misc]
    """Keeps `alarms.json` in the stage's folder as the watch sees it, and stops the training where it is asked to."""

    def __init__(self, section: CollapseSection, folder: Path, job: str, channel: Channel) -> None:
        self._section = section
        self._folder = folder
        self._job = job
        self._channel = channel
        self._watch = CollapseWatch(section)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start with what the checkpoint remembers, where training goes on from one."""
        self._watch = CollapseWatch(self._section)
        for row in state.log_history:
            self._watch.observe(row)
        self._write(state)

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        raised = self._watch.observe(state.log_history[-1])
        for alarm in raised:
            self._channel.note(self._job, f"alarm: {alarm}")
        if raised:
            self._write(state)
        if raised and self._section.stop:
            # In each process: all see the same numbers.
            control.should_training_stop = True
            # A checkpoint of this step would let a resumed training go one step beyond it.
            control.should_save = False

    def _write(self, state: Any) -> None:
        if state.is_world_process_zero:
            write_alarms(self._folder, self._watch.alarms)


def _losses(history: list[Mapping[str, Any]]) -> str:
    losses = [row["loss"] for row in history if "loss" in row]
    told = ", ".join(f"{loss:.4g}" for loss in losses[-_LOSSES_TOLD:])
    return f"..., {told}" if len(losses) > _LOSSES_TOLD else told
