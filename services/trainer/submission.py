"""From what is asked for to a run that can end well: resolved, checked before any compute, and cut into stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rl_gym.gym.registry import get_env
from rl_gym.infra.errors import UsageError
from rl_gym.infra.settings import Settings
from rl_gym.training.chain import trainers
from rl_gym.training.config import Config, resolve
from rl_gym.training.plan import make_plan, require_ready
from rl_gym.wire.run import RunSpec
from services.trainer.delivery import StagePlan

__all__ = ["GPU", "checked", "stage_plan"]

GPU = "gpu"
"""What only one stage has at a time."""

_RUN_MODELS = ("rollout", "evaluate", "bakeoff")
_OF_THE_MACHINE = ("packages", "gpu", "processes", "memory", "disk")


def checked(spec: RunSpec, settings: Settings, *, works_here: bool) -> Config:
    """The resolved configuration of a spec; `works_here` says that its stages run on this very machine.

    Raises UsageError or NotFoundError for a key, preset, environment or model that there is not, and for what does not
    fit together or into the machine. What a worker elsewhere has to see for itself, it does before a run's first stage.
    """
    config = resolve(spec.preset, spec.overrides, seed=spec.seed, mode=spec.mode)
    _require_hosted(config)
    plan = make_plan(config, settings)
    if not works_here:
        plan = replace(plan, checks=tuple(check for check in plan.checks if check.name not in _OF_THE_MACHINE))
    require_ready(plan)
    options: dict[str, Any] = dict(config.environment.options)
    get_env(config.environment.name, **options)
    return config


def _require_hosted(config: Config) -> None:
    """Raise UsageError for what no worker does, on whatever machine: a stage is the work of one."""
    machine = config.machine
    if machine.machines > 1:
        raise UsageError(
            f"machine.machines {machine.machines}: a trainer does a stage on one machine; set machine.machines=1, or "
            "start the run without a trainer, by `rl-gym pipeline`"
        )
    if machine.sharding != "none":
        raise UsageError(f"machine.sharding {machine.sharding}: no worker shards a model; set machine.sharding=none")


def stage_plan(config: Config) -> Sequence[StagePlan]:
    """The stages of a run in order; whatever trains or runs a model has the GPU meanwhile."""
    hungry = {*trainers(config.stages), *_RUN_MODELS}
    return [StagePlan(name, GPU if name in hungry else None) for name in config.stages]
