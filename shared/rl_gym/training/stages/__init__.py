"""The stages of a run, one after another.

Each reads what those before it left in the run folder, writes its own folder, and is skipped where it ended before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from rl_gym.gym.core import content_hash
from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import UsageError
from rl_gym.serving.weights import find_model
from rl_gym.training.config import Config
from rl_gym.training.difficulty import read_rates
from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.stages.bakeoff import bakeoff
from rl_gym.training.stages.evaluate import bars, evaluate
from rl_gym.training.stages.judge import audit_run, gate_run
from rl_gym.training.stages.mine import mine
from rl_gym.training.stages.preflight import require_sound
from rl_gym.training.stages.prepare import prepare
from rl_gym.training.stages.promote import promote
from rl_gym.training.stages.rollout import rollout
from rl_gym.training.stages.train import grpo, raft, repair, sft
from rl_gym.training.stages.update import update

__all__ = ["STAGES", "StageFunction", "efforts", "execute", "last_by_default", "perform_stage", "start"]

StageFunction = Callable[[Run, Means, Progress], None]
"""Does a stage: leaves its files in `run.stage(NAME)`, all that counts of it in there."""

STAGES: Mapping[str, StageFunction] = {
    "prepare": prepare,
    "sft": sft,
    "rollout": rollout,
    "raft": raft,
    "grpo": grpo,
    "repair": repair,
    "update": update,
    "evaluate": evaluate,
    "audit": audit_run,
    "gate": gate_run,
    "promote": promote,
    "bakeoff": bakeoff,
    "mine": mine,
}


def start(config: Config, folder: Path, *, now: datetime, until: str | None = None) -> Run:
    """Make the run folder, once the model, the environment and the files that it names are known to be there.

    Raises UsageError where the stages up to `until`, else those of `last_by_default`, cannot all end well.
    """
    base = find_model(config.model.base)
    env = require_sound(config, until or last_by_default(config))
    if config.grpo.difficulty_map is not None:
        read_rates(Path(config.grpo.difficulty_map))
    if config.report_to != "none" and find_spec(config.report_to) is None:
        raise UsageError(f"report_to {config.report_to!r} needs the package {config.report_to}, which is not installed")
    digests = {"base": tree_digest(base), "reward": env.reward.digest, "config": content_hash(config.model_dump())}
    return Run.create(folder, config, now=now, digests=digests)


def last_by_default(config: Config) -> str:
    """The last stage of a run where nobody names another: a promotion is the affair of a flywheel alone."""
    return [stage for stage in config.stages if stage != "promote" or config.mode == "flywheel"][-1]


def execute(run: Run, progress: Progress, means: Means | None = None, *, until: str | None = None) -> None:
    """Run the stages up to `until`, else those of `last_by_default`, that have not ended yet.

    Raises KeyboardInterrupt with the command that goes on, where the caller was interrupted; what was done is kept.
    """
    last = until or last_by_default(run.config)
    try:
        with run.lock():
            for name in run.stages[: run.stages.index(last) + 1]:
                perform_stage(run, name, means or Means(), progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{run.folder} is kept; go on with `rl-gym pipeline --resume {run.folder}`") from None


def perform_stage(run: Run, name: str, means: Means, progress: Progress) -> None:
    """Do one stage and seal it, where it has not ended on what stands now. Whoever calls has the run's lock."""
    if not run.stands(name):
        for void in run.stages[run.stages.index(name) :]:
            # What ended before, ended on other inputs than the ones that stand now.
            if run.ended(void):
                run.clear(void)
        run.stage(name)
        STAGES[name](run, means, progress)
        run.seal(name)
    for bar in _bars(run.config, name):
        progress.finish(bar)


def efforts(config: Config) -> dict[str, float]:
    """About how many seconds each job of a run takes on one core: its share of the progress bar."""
    answers = config.episodes.held_out * (config.evaluate.samples + 1)
    learnt = {"sft": config.sft, "raft": config.raft, "repair": config.repair}
    seconds = {name: 8.0 + one.steps * one.batch_size / 32 for name, one in learnt.items() if one is not None}
    seconds["prepare"] = 4.0
    seconds["grpo"] = 8.0 + config.grpo.steps * config.grpo.prompts_per_step * config.grpo.generations / 12
    seconds["update"] = seconds[config.update.first]
    sampled = config.raft or config.repair
    seconds["rollout"] = 5.0 + config.episodes.grpo * (sampled.samples if sampled else 1) / 20
    evaluation = 5.0 + answers / 20 / config.evaluate.processes
    return {
        bar: evaluation if stage == "evaluate" else seconds.get(stage, 2.0)
        for stage in config.stages
        for bar in _bars(config, stage)
    }


def _bars(config: Config, stage: str) -> list[str]:
    """The parts of the progress bar that a stage fills."""
    return bars(config) if stage == "evaluate" else [stage]
