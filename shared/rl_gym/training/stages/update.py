"""update: the incumbent trained on, from where it stands."""

from __future__ import annotations

import shutil

from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.stages.evaluate import model_before
from rl_gym.training.stages.jobs import do_jobs, training_job

__all__ = ["update"]


def update(run: Run, means: Means, progress: Progress) -> None:
    """Train the model of the run by `update.first`, on the rows that `prepare` left for it: `sft.jsonl`, `grpo.jsonl`.

    The method's own section says how.
    """
    method = run.config.update.first
    data = run.folder / "prepare" / f"{method}.jsonl"
    job = training_job(run, "update", model_before(run, "update"), means, kind=method, data=data)
    do_jobs(run, progress, [job])
    shutil.rmtree(run.folder / "update" / "checkpoints", ignore_errors=True)
