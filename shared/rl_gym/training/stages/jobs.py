"""What stages have children do: the description of a job, whether an earlier attempt's is the same, and its reports."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rl_gym.gym.core import Environment
from rl_gym.gym.files import read_document
from rl_gym.gym.registry import get_env
from rl_gym.infra.digests import file_digest, tree_digest
from rl_gym.training.config import Config
from rl_gym.training.files import read_rows, write_rows, writing
from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.supervise import Report, run_jobs

__all__ = ["JOB", "Job", "do_jobs", "environment", "goes_on", "model_digest", "reporter", "training_job"]

JOB = "job.json"
"""What a stage that trains keeps of its job: what was asked of the child, and the digests of what it read."""

Job = tuple[Path, Mapping[str, Any]]
"""Where a child's job is described, and the description."""


def environment(config: Config) -> Environment:
    """The environment of a run, with the options that its preset pins."""
    return get_env(config.environment.name, **config.environment.options)


def model_digest(run: Run, model: Path) -> str:
    """The digest of a model that a stage reads; UsageError for a base that has changed since the run began."""
    digest = tree_digest(model)
    if not model.is_relative_to(run.folder):
        run.require_base(digest)
    return digest


def training_job(
    run: Run, stage: str, model: Path, means: Means, *, kind: str = "", section: str = "", data: Path | None = None
) -> Job:
    """The job of a stage that trains a model on rows, by default those that `prepare` made for it.

    `kind` is what the child does, by default what the stage is called, and `section` the part of the configuration that
    it goes by, by default called as the kind. What an earlier attempt left is dropped where it had other inputs.
    """
    data = data or run.folder / "prepare" / f"{stage}.jsonl"
    path = run.stage(stage) / JOB
    job = {
        "kind": kind or stage,
        "section": section or kind or stage,
        "name": stage,
        "model": str(model.resolve()),
        "data": str(data.resolve()),
        "output": str(path.parent.resolve()),
        "inputs": {"model": model_digest(run, model), "data": file_digest(data)},
        "config": run.config.model_dump(mode="json"),
        "verifier": dict(means.verifier) if means.verifier else None,
    }
    if not goes_on(path, job):
        run.clear(stage)
        run.stage(stage)
    return path, job


def goes_on(path: Path, job: Mapping[str, Any]) -> bool:
    """Whether what an earlier attempt left was made from the same inputs, by the same configuration."""
    if not path.exists():
        return False
    earlier = read_document(path)
    return all(earlier.get(key) == job[key] for key in ("inputs", "config"))


def do_jobs(run: Run, progress: Progress, jobs: Sequence[Job], *, processes: int = 1) -> None:
    """Have children do jobs, `processes` at once."""
    threads = run.config.model.threads
    report = reporter(run, progress)
    run_jobs(jobs, log=run.log, threads=threads, report=report, check=progress.check, processes=processes)


def reporter(run: Run, progress: Progress) -> Report:
    """What is done with a child's messages: what trainers log is kept in `metrics.jsonl`, how far they are is drawn."""

    def report(message: Mapping[str, Any]) -> None:
        job = message["job"]
        if "resumed" in message:
            _forget_metrics(run, job, message["resumed"])
        elif "metrics" in message:
            path = run.metrics(job)
            with writing(path), path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"stage": job, "step": message["step"], **message["metrics"]}) + "\n")
            progress.measured(job, message["step"], message["metrics"])
        elif "note" in message:
            progress.say(f"{job}: {message['note']}")
        else:
            progress.update(job, message["done"], message["total"])

    return report


def _forget_metrics(run: Run, stage: str, step: int) -> None:
    """Drop the rows of steps that a resumed training will take again, and one that was cut off in its writing."""
    path = run.metrics(stage)
    if path.exists():
        with writing(path):
            os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
        write_rows(path, [row for row in read_rows(path) if row["step"] <= step])
