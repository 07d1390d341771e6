"""Two-pass repair in an evaluation: second turns of models over their own answers, and what they gain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.files import replace_text
from rl_gym.infra.digests import file_digest
from rl_gym.training.chain import PolicyName, candidate, incumbent
from rl_gym.training.files import read_rows
from rl_gym.training.progress import Progress
from rl_gym.training.repairs import measure_repairs
from rl_gym.training.run import Run
from rl_gym.training.stages.jobs import Job, do_jobs, environment, goes_on

__all__ = ["RECORDS", "REPORT", "second_answers", "second_turns"]

RECORDS, REPORT = "repaired.jsonl", "repair.json"
"""In the folder of `evaluate`: every second answer, under the number of the first, and what they gain."""


def second_turns(run: Run, progress: Progress, jobs: Sequence[Job]) -> None:
    """Give incumbent and candidate a repair turn over what `jobs` recorded of them, and measure what it gains."""
    folder = run.stage("evaluate")
    sides = incumbent(run.stages), candidate(run.stages)
    second = second_answers(run, progress, [(path, job) for path, job in jobs if job["policy"] in sides])
    first = [record for policy in sides for record in records.read(folder / f"{policy}.jsonl")]
    rows = read_rows(run.folder / "prepare" / "held_out.jsonl")
    episodes = {episode.hash: episode for episode in map(Episode.from_dict, rows)}
    found = measure_repairs(environment(run.config), first, second, episodes, incumbent=sides[0], candidate=sides[1])
    replace_text(folder / REPORT, json.dumps(found, indent=2) + "\n")


def second_answers(run: Run, progress: Progress, jobs: Sequence[Job]) -> list[records.RecordedCompletion]:
    """Give the model of each of these evaluations a repair turn over what it recorded; kept as RECORDS."""
    turns = [_turn(run, job["policy"], job) for _, job in jobs]
    missing = [(path, job) for path, job in turns if not (goes_on(path, job) and Path(job["output"]).exists())]
    do_jobs(run, progress, missing, processes=run.config.evaluate.processes)
    second = [record for _, job in turns for record in _read(Path(job["output"]))]
    records.write(run.stage("evaluate") / RECORDS, second)
    for _, job in turns:
        Path(job["output"]).unlink()
    return second


def _turn(run: Run, policy: PolicyName, evaluated: Any) -> Job:
    folder = run.folder / "evaluate"
    completions = folder / f"{policy}.jsonl"
    job = {
        **evaluated,
        "kind": "repair-turn",
        "name": f"repair {policy}",
        "completions": str(completions.resolve()),
        "output": str((folder / f"{policy}-again.jsonl").resolve()),
        "inputs": {**evaluated["inputs"], "completions": file_digest(completions)},
    }
    return folder / f"{policy}-again.json", job


def _read(path: Path) -> list[records.RecordedCompletion]:
    """None are due where every answer was perfect."""
    return records.read(path) if path.stat().st_size else []
