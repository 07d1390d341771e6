"""Which weights a name stands for: the packaged ones, and what the last run trained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.serving.weights import find_model
from rl_gym.training.chain import trainers
from rl_gym.training.run import Run, latest_run

__all__ = ["TRAINED", "NamedModel", "trained_model"]

TRAINED = "nano"
"""The packaged model that was trained before, for when no run of one's own has ended."""

_KEPT = ("model", "adapter")


@dataclass(frozen=True, slots=True)
class NamedModel:
    """Weights in a folder, the base that they were trained from, and where they come from in words."""

    folder: Path
    base: Path
    origin: str


def trained_model(runs: Path, *, run: Run | None = None) -> NamedModel:
    """The GRPO model of `run`, else of the run below `runs` that trained last, else the packaged one.

    A run that was fetched from a trainer lies there without its models, and is passed over. Raises UsageError where
    that run's files are damaged, or it kept the adapter alone, and NotFoundError where `run` has not trained one, or
    was fetched.
    """
    chosen = run or latest_run(runs, stage="grpo", holding=_KEPT)
    if chosen is None:
        return NamedModel(find_model(TRAINED), find_model("nano-base"), "the packaged model")
    chosen.require("grpo")
    stage = chosen.folder / "grpo"
    model, adapter = (stage / name for name in _KEPT)
    if not model.is_dir() and not adapter.is_dir():
        raise NotFoundError(f"{stage} has no model: a trainer keeps those of its runs; name a run that was done here")
    if not model.is_dir():
        before = trainers(chosen.stages[: chosen.stages.index("grpo")])[-1]
        raise UsageError(
            f"{stage} has an adapter alone (grpo.merge is false): make a model by `rl-gym merge {adapter} "
            f"--base {chosen.folder / before / 'model'} --out FOLDER`, and name that"
        )
    return NamedModel(model, find_model(chosen.config.model.base), f"run {chosen.folder}")
