"""TRL's trainers, going on from a checkpoint as if they had never stopped.

A checkpoint of transformers has weights, optimiser and random states. What it leaves out is the order of the data that
an undisturbed training would have gone on with; and from one of the last step it would train a step more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers.trainer_pt_utils import LengthGroupedSampler
from trl import GRPOTrainer, SFTTrainer

from rl_gym.training import checkpoints

if TYPE_CHECKING:
    from rl_gym.training.child import Channel

__all__ = ["ResumableGrpo", "ResumableSft", "train"]

_ORDER = "order.pt"


def train(trainer: ResumableGrpo | ResumableSft, name: str, folder: Path, channel: Channel) -> None:
    """Train, from the newest whole checkpoint in `folder` where an earlier attempt left one."""
    checkpoint = checkpoints.newest(folder, lambda text: channel.note(name, f"warning: {text}"))
    channel.resumed(name, checkpoints.step_of(checkpoint) if checkpoint else 0)
    if checkpoint:
        trainer.recall(checkpoint)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


class _EndsOnce:
    """Takes no step where the checkpoint is of the last one."""

    def _run_epoch(self: Any, **arguments: Any) -> None:
        if self.state.global_step >= self.state.max_steps:
            self.control.should_training_stop = True
        else:
            super()._run_epoch(**arguments)  # type: ignore[misc]


class ResumableGrpo(_EndsOnce, GRPOTrainer):  # type: ignore[misc]
    """Goes on with the order of prompts that an undisturbed run would have taken.

    TRL's sampler draws a new order for each epoch from a generator that no checkpoint keeps, and that nothing else
    draws from. `steps_an_epoch` is how many steps one serves.
    """

    def __init__(self, *, steps_an_epoch: int, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._steps_an_epoch = steps_an_epoch
        self._epochs_done = 0

    def recall(self, checkpoint: Path) -> None:
        self._epochs_done = checkpoints.step_of(checkpoint) // self._steps_an_epoch

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        sampler = super()._get_train_sampler(dataset)
        for _ in range(self._epochs_done):
            torch.randperm(sampler.num_samples, generator=sampler.generator)
        return sampler


class ResumableSft(_EndsOnce, SFTTrainer):  # type: ignore[misc]
    """Keeps with each checkpoint in which order the present epoch takes the demonstrations, and goes on with it.

    The sampler draws it from the random state of the process, which is another one by the time of the checkpoint.
    """

    _order: _Order
    _recalled: list[int] | None = None

    def recall(self, checkpoint: Path) -> None:
        kept = torch.load(checkpoint / _ORDER, weights_only=True)
        self._recalled, self._total_train_tokens = kept["order"], kept["tokens"]

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        drawn = super()._get_train_sampler(train_dataset)
        self._order = _Order(drawn.batch_size, drawn.lengths, self._recalled)
        return self._order

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self.is_world_process_zero():
            # Behind the end of an epoch an order is drawn by what the checkpoint has of the random state.
            order = None if float(self.state.epoch).is_integer() else self._order.present
            kept = {"order": order, "tokens": self._total_train_tokens}
            torch.save(kept, Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}" / _ORDER)


class _Order(LengthGroupedSampler):  # type: ignore[misc]
    """Draws as its parent does, but takes the first order as it is `recalled`; knows the `present` one."""

    def __init__(self, batch_size: int, lengths: Sequence[int], recalled: list[int] | None) -> None:
        super().__init__(batch_size, lengths=lengths)
        self._recalled = recalled
        self.present: list[int] = []

    def __iter__(self) -> Iterator[int]:
        self.present, self._recalled = self._recalled or list(super().__iter__()), None
        return iter(self.present)
