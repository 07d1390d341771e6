"""The run that the tests disturb, as it ends where nothing does: each file that has to be the same, by its digest."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from rl_gym.infra.digests import file_digest, file_names
from rl_gym.training.config import resolve
from rl_gym.training.progress import RunProgress
from rl_gym.training.stages import execute, start

__all__ = ["OVERRIDES", "PRESET", "is_result", "undisturbed"]

PRESET = "micro"
OVERRIDES = ("evaluate.policies=['sft','grpo']", "sft.steps=3", "grpo.steps=3", "evaluate.samples=1")

_RESULTS = ("prepare/", "sft/model/", "grpo/model/", "evaluate/completions.jsonl", "audit/", "gate/", "promote/")
_NO_RESULTS = ("/manifest.json", ".lock")


def is_result(name: str) -> bool:
    """Whether a file of a run, by stage and name, has to be the same in each run of one seed.

    Jobs name folders, metrics times, and an adapter the run that it is of.
    """
    return name.startswith(_RESULTS) and not name.endswith(_NO_RESULTS)


def undisturbed(folder: Path) -> Mapping[str, str]:
    """The digests of the results of a run in this process; the first of several who ask with one folder makes it."""
    folder.mkdir(parents=True, exist_ok=True)
    told = folder / "results.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            results = _run(folder / "run")
            told.write_text(json.dumps(results))
    digests: Mapping[str, str] = json.loads(told.read_text())
    return digests


def _run(folder: Path) -> Mapping[str, str]:
    config = resolve(PRESET, OVERRIDES)
    run = start(config, folder, now=datetime.now(UTC).replace(tzinfo=None))
    with open(os.devnull, "w") as nowhere, RunProgress(Console(file=nowhere), {}) as progress:
        execute(run, progress, until=config.stages[-1])
    return {name: file_digest(folder / name) for name in file_names(folder) if is_result(name)}
