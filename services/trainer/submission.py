"""From what is asked for to a run that can end well: resolved, checked before any compute, and cut into stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import structlog

from rl_gym.infra.errors import UsageError, one_line
from rl_gym.training.chain import trainers
from rl_gym.training.config import Config, resolve
from rl_gym.training.means import Means
from rl_gym.training.plan import make_plan, require_ready
from rl_gym.training.policy_service import require_policy
from rl_gym.training.stages.preflight import require_sound
from rl_gym.wire.run import RunSpec
from services.trainer.delivery import StagePlan
from services.trainer.server_files import require_allowed_files
from services.trainer.settings import TrainerSettings

__all__ = ["GPU", "checked", "stage_plan"]

_log = structlog.get_logger("submission")

GPU = "gpu"
"""What only one stage has at a time, of each machine."""

_LONGEST = 200
_RUN_MODELS = ("rollout", "evaluate", "bakeoff")
_OF_THE_MACHINE = ("packages", "gpu", "processes", "memory", "disk")


def checked(spec: RunSpec, settings: TrainerSettings, *, works_here: bool, trusted: bool = True) -> Config:
    """The resolved configuration of a spec; `works_here` says that its stages run on this very machine.

    Raises UsageError or NotFoundError for a key, preset, environment or model that there is not, and for what does not
    fit together or into the machine. What a worker elsewhere has to see for itself, it does before a run's first stage.
    Who is not `trusted` may name no file of this deployment but those that settings allow: ForbiddenError.
    """
    try:
        return _checked(spec, settings, works_here=works_here, trusted=trusted)
    except (AttributeError, OSError, RuntimeError, TypeError, ValueError) as error:
        # What Python itself makes of an override: brackets a thousand deep, a path that no system takes.
        said = one_line(f"{type(error).__name__}: {error}", _LONGEST)
        _log.warning("the overrides of a spec cannot be read", reason=said)
        raise UsageError(f"overrides: they cannot be read: {said}") from None


def _checked(spec: RunSpec, settings: TrainerSettings, *, works_here: bool, trusted: bool) -> Config:
    config = resolve(spec.preset, spec.overrides, seed=spec.seed, mode=spec.mode)
    if not trusted:
        # Before anything looks whether there is such a file.
        require_allowed_files(config, settings)
    _require_hosted(config)
    _require_strict(config, settings)
    if works_here:
        _require_services(config, settings)
    # By the library's own settings, which stages go by.
    plan = make_plan(config)
    if not works_here:
        plan = replace(plan, checks=tuple(check for check in plan.checks if check.name not in _OF_THE_MACHINE))
    require_ready(plan)
    require_sound(config, config.stages[-1], here=works_here)
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


def _require_strict(config: Config, settings: TrainerSettings) -> None:
    """Raise UsageError for a gate that lets more pass than this trainer promotes by."""
    for key, asked in (("gate.tolerance", config.gate.tolerance), ("drift.tolerance", config.drift.tolerance)):
        if "promote" in config.stages and asked > settings.tolerance:
            raise UsageError(
                f"{key} {asked:g}: this trainer promotes by {settings.tolerance:g} at most: ask for less, or raise "
                f"{settings.variable('tolerance')} there"
            )


def _require_services(config: Config, settings: TrainerSettings) -> None:
    """Raise UsageError where a stage would ask a policy service, and no address of one is known."""
    means = Means(policy=settings.policy)
    if "bakeoff" in config.stages:
        require_policy(means, "mode bakeoff")
    if "evaluate" in config.stages and config.evaluate.through == "policy":
        require_policy(means, "evaluate.through = policy")


def stage_plan(config: Config) -> Sequence[StagePlan]:
    """The stages of a run in order; whatever trains or runs a model has the GPU meanwhile."""
    hungry = {*trainers(config.stages), *_RUN_MODELS}
    return [StagePlan(name, GPU if name in hungry else None) for name in config.stages]
