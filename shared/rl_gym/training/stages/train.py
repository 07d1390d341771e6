"""sft, raft, repair and grpo: a model from the one before it."""

from __future__ import annotations

import shutil

from rl_gym.training.chain import maker
from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.stages.evaluate import missing_evaluations, model_before
from rl_gym.training.stages.jobs import do_jobs, training_job

__all__ = ["grpo", "raft", "repair", "sft"]


def sft(run: Run, means: Means, progress: Progress) -> None:
    """Learn the demonstrations, from the base."""
    _supervised(run, "sft", means, progress, folder="prepare")


def raft(run: Run, means: Means, progress: Progress) -> None:
    """Learn the best of one's own answers."""
    _supervised(run, "raft", means, progress, folder="rollout")


def repair(run: Run, means: Means, progress: Progress) -> None:
    """Learn to mend one's own answers, with plain demonstrations among it."""
    _supervised(run, "repair", means, progress, folder="rollout")


def _supervised(run: Run, stage: str, means: Means, progress: Progress, *, folder: str) -> None:
    """SFT by the stage's own section, on the rows that the stage `folder` left for it."""
    data = run.folder / folder / f"{stage}.jsonl"
    job = training_job(run, stage, model_before(run, stage), means, kind="sft", section=stage, data=data)
    do_jobs(run, progress, [job])
    shutil.rmtree(run.folder / stage / "checkpoints", ignore_errors=True)


def grpo(run: Run, means: Means, progress: Progress) -> None:
    """Learn from the reward, and let a core that would idle meanwhile evaluate the models that are there already."""
    band = run.folder / "rollout" / "grpo.jsonl"
    data = band if "rollout" in run.stages and band.exists() else run.folder / "prepare" / "grpo.jsonl"
    jobs = [training_job(run, "grpo", model_before(run, "grpo"), means, data=data)]
    processes = run.config.evaluate.processes
    if processes > 1 and run.config.evaluate.through == "process":
        jobs += missing_evaluations(
            run, [policy for policy in run.config.policies if maker(policy, run.stages) != "grpo"]
        )
    do_jobs(run, progress, jobs, processes=processes)
    shutil.rmtree(run.folder / "grpo" / "checkpoints", ignore_errors=True)
