"""evaluate: every policy of the run on the held-out episodes, completion by completion."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.gym.files import replace_text
from rl_gym.infra.digests import file_digest
from rl_gym.serving.adapter_bases import check_base, is_adapter
from rl_gym.serving.weights import find_model
from rl_gym.training.chain import PolicyName, maker, trainers
from rl_gym.training.config import Config
from rl_gym.training.files import read_rows
from rl_gym.training.incumbent import incumbent_folder
from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.serving_figures import FILE as FIGURES
from rl_gym.training.serving_figures import serving_figures
from rl_gym.training.stages.drift import measure_drift
from rl_gym.training.stages.jobs import Job, do_jobs, environment, goes_on, model_digest
from rl_gym.training.stages.policy_evaluation import evaluate_served
from rl_gym.training.stages.repair_turns import second_answers, second_turns

__all__ = ["bars", "evaluate", "missing_evaluations", "model_before", "model_of"]


def evaluate(run: Run, means: Means, progress: Progress) -> None:
    """Record what every policy answers: `completions.jsonl`, which can be scored again without a model."""
    folder = run.stage("evaluate")
    section, policies = run.config.evaluate, run.config.policies
    asked = _asked_of_a_service(run, means, progress)
    here = [policy for policy in policies if policy not in asked]
    do_jobs(run, progress, missing_evaluations(run, here), processes=section.processes)
    # Only where somebody answers again: to describe a job takes the digest of its model, which is as long as that is.
    again = run.config.mode == "repair" or section.repair
    made = [_evaluation(run, policy) for policy in _models(run.config) if again and policy not in asked]
    if run.config.mode == "repair":
        second_turns(run, progress, made)
    second = second_answers(run, progress, made) if section.repair else None
    env = environment(run.config)
    episodes = [Episode.from_dict(row) for row in read_rows(run.folder / "prepare" / "held_out.jsonl")]
    parts = {policy: folder / f"{policy}.jsonl" for policy in _models(run.config)}
    completions: list[records.RecordedCompletion] = []
    for policy in policies:
        if policy in asked:
            completions += asked[policy]
        elif policy in parts:
            completions += records.read(parts[policy])
        else:
            answer = getattr(env, policy)
            completions += evaluate_reference(env, episodes, policy, answer, split=run.config.evaluate.anchor)
    records.write(folder / "completions.jsonl", completions)
    if run.config.mode == "drift":
        measure_drift(run, completions, episodes)
    if section.best_of is not None or second is not None:
        figures = serving_figures(completions, n=section.best_of, second=second)
        replace_text(folder / FIGURES, json.dumps(figures, indent=2) + "\n")
    for part in parts.values():
        part.unlink(missing_ok=True)


def _asked_of_a_service(
    run: Run, means: Means, progress: Progress
) -> dict[PolicyName, list[records.RecordedCompletion]]:
    """What a policy service answers as those models of the run that it serves, where the run asks one."""
    if run.config.evaluate.through == "process":
        return {}
    return evaluate_served(run, means, progress, {policy: model_of(run, policy) for policy in _models(run.config)})


def bars(config: Config) -> list[str]:
    """The parts of the progress bar that the evaluation fills."""
    return [_bar(policy) for policy in _models(config)]


def model_of(run: Run, policy: PolicyName) -> Path:
    """The folder of the model that a policy of the run is, or of the adapter, where its stage keeps that alone."""
    stage = maker(policy, run.stages)
    if not stage:
        kept = incumbent_folder(run) if policy == "incumbent" else None
        return kept or find_model(run.config.model.base)
    model = run.folder / stage / "model"
    return model if model.is_dir() else run.folder / stage / "adapter"


def model_before(run: Run, stage: str) -> Path:
    """The model that a stage starts from: of the stage that trained last before it, else the incumbent or the base."""
    before = trainers(run.stages[: run.stages.index(stage)])
    if before:
        return run.folder / before[-1] / "model"
    return incumbent_folder(run) or find_model(run.config.model.base)


def missing_evaluations(run: Run, policies: Sequence[PolicyName]) -> list[Job]:
    """A job for each of these that is a model and whose completions are not there yet, or are another model's."""
    folder = run.stage("evaluate")
    jobs: list[Job] = []
    for policy in _models(run.config):
        if policy in policies:
            path, job = _evaluation(run, policy)
            part = folder / f"{policy}.jsonl"
            if not (goes_on(path, job) and part.exists()):
                part.unlink(missing_ok=True)
                jobs.append((path, job))
    return jobs


def _evaluation(run: Run, policy: PolicyName) -> Job:
    folder = run.folder / "evaluate"
    return folder / f"{policy}.json", _evaluation_job(run, policy, folder / f"{policy}.jsonl")


def _models(config: Config) -> list[PolicyName]:
    return [policy for policy in config.policies if maker(policy, config.stages) is not None]


def _bar(policy: str) -> str:
    return f"evaluate {policy}"


def _evaluation_job(run: Run, policy: PolicyName, output: Path) -> dict[str, Any]:
    model = model_of(run, policy)
    episodes = run.folder / "prepare" / "held_out.jsonl"
    job = {
        "kind": "evaluate",
        "name": _bar(policy),
        "policy": policy,
        "model": str(model.resolve()),
        "data": str(episodes.resolve()),
        "output": str(output.resolve()),
        "inputs": {"model": model_digest(run, model), "data": file_digest(episodes)},
        "config": run.config.model_dump(mode="json"),
    }
    stage = maker(policy, run.stages)
    if stage and is_adapter(model):
        base = model_before(run, stage)
        check_base(model, model_digest(run, base), str(base))
        job["base"] = str(base.resolve())
    return job
