"""Several machines, one run: the machine that the run was started on does all of it, and the others train with it.

They share the run's folder, at the same path: the data and the models that a stage reads lie there.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rl_gym.gym.files import read_document
from rl_gym.infra.errors import UsageError
from rl_gym.training.chain import trainers
from rl_gym.training.run import Run
from rl_gym.training.supervise import run_jobs

__all__ = ["join"]

_LOOK_SECONDS = 1.0


def join(run: Run, rank: int, say: Callable[[str], None]) -> None:
    """Train as machine `rank` in each stage of a run that trains and has not ended, once it begins; `say` is told.

    Raises UsageError for a rank that the run has no machine for, InfrastructureError where a training fails.
    """
    machines = run.config.machine.machines
    if not 0 < rank < machines:
        wanted = f"1 to {machines - 1} join it" if machines > 1 else "machine.machines is 1: nothing joins it"
        raise UsageError(f"{run.folder} has no machine {rank} to join: {wanted}")
    for stage in trainers(run.stages):
        say(f"{stage}: waiting for it to begin")
        job = _awaited(run, stage)
        if job is None:
            continue
        say(f"{stage}: training")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / stage / "job.json"
            path.parent.mkdir()
            run_jobs(
                [(path, {**job, "machine_rank": rank})],
                log=run.folder / f"log-{rank}.txt",
                threads=run.config.model.threads,
                report=_ignore,
            )


def _awaited(run: Run, stage: str) -> Mapping[str, Any] | None:
    """The job of a stage as soon as it has one; None where the stage has ended."""
    path = run.folder / stage / "job.json"
    while not run.ended(stage):
        if path.exists():
            return read_document(path)
        time.sleep(_LOOK_SECONDS)
    return None


def _ignore(message: Mapping[str, Any]) -> None:
    """The first machine reports for all."""
