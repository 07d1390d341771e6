"""The stages of a run, one after another: prepare, sft, grpo, evaluate, audit, gate.

Each reads what the one before it left in the run folder, writes its own folder, and is skipped where it ended before.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rl_gym.gym import records
from rl_gym.gym.audit import audit, read_report, training_alarms, write_report
from rl_gym.gym.core import Environment, Episode, content_hash
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.gym.files import read_document
from rl_gym.gym.gate import decide, write_verdict
from rl_gym.gym.registry import get_env
from rl_gym.serving.weights import find_model
from rl_gym.training.config import Config
from rl_gym.training.files import file_digest, read_rows, tree_digest, write_rows, writing
from rl_gym.training.mix import draw
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import STAGES, Run
from rl_gym.training.supervise import Report, run_jobs

__all__ = ["efforts", "environment", "execute", "reporter", "start"]

Job = tuple[Path, Mapping[str, Any]]
"""Where a child's job is described, and the description."""

_MODELS = {"base": "", "sft": "sft", "grpo": "grpo"}
"""Policies that are models, and the stage that made each (the base is given)."""


def start(config: Config, folder: Path, *, now: datetime) -> Run:
    """Make the run folder, once the model and the environment that it names are known to be there."""
    base = find_model(config.model.base)
    env = environment(config)
    digests = {"base": tree_digest(base), "reward": env.reward.digest, "config": content_hash(config.model_dump())}
    return Run.create(folder, config, now=now, digests=digests)


def execute(run: Run, progress: RunProgress, *, until: str = STAGES[-1]) -> None:
    """Run the stages up to `until` that have not ended yet.

    Raises KeyboardInterrupt with the command that goes on, where the caller was interrupted; what was done is kept.
    """
    try:
        with run.lock():
            for name in STAGES[: STAGES.index(until) + 1]:
                _execute_stage(run, name, progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{run.folder} is kept; go on with `rl-gym pipeline --resume {run.folder}`") from None


def efforts(config: Config) -> dict[str, float]:
    """About how many seconds each job of a run takes on one core: its share of the progress bar."""
    answers = config.episodes.held_out * (config.evaluate.samples + 1)
    return {
        "prepare": 4.0,
        "sft": 8.0 + config.sft.steps * config.sft.batch_size / 32,
        "grpo": 8.0 + config.grpo.steps * config.grpo.prompts_per_step * config.grpo.generations / 12,
        **dict.fromkeys(_bars(config, "evaluate"), 5.0 + answers / 20 / config.evaluate.processes),
        "audit": 2.0,
        "gate": 2.0,
    }


def environment(config: Config) -> Environment:
    """The environment of a run, with the options that its preset pins."""
    return get_env(config.environment.name, **config.environment.options)


def _execute_stage(run: Run, name: str, progress: RunProgress) -> None:
    if not run.stands(name):
        for void in STAGES[STAGES.index(name) :]:
            # What ended before, ended on other inputs than the ones that stand now.
            if run.ended(void):
                run.clear(void)
        run.stage(name)
        _STAGES[name](run, progress)
        run.seal(name)
    for bar in _bars(run.config, name):
        progress.finish(bar)


def _bars(config: Config, stage: str) -> Sequence[str]:
    """The parts of the progress bar that a stage fills."""
    if stage != "evaluate":
        return [stage]
    return [_bar(policy) for policy in config.evaluate.policies if policy in _MODELS]


def _bar(policy: str) -> str:
    return f"evaluate {policy}"


def _prepare(run: Run, progress: RunProgress) -> None:
    from tokenizers import Tokenizer

    progress.update("prepare", 0, 1)
    tokenizer: Any = Tokenizer.from_file(str(find_model(run.config.model.base) / "tokenizer.json"))
    mix = draw(environment(run.config), run.config, lambda text: len(tokenizer.encode(text).ids))
    folder = run.stage("prepare")
    write_rows(folder / "sft.jsonl", mix.sft)
    write_rows(folder / "grpo.jsonl", mix.grpo)
    write_rows(folder / "held_out.jsonl", mix.held_out)


def _sft(run: Run, progress: RunProgress) -> None:
    _run_jobs(run, progress, [_training_job(run, "sft", find_model(run.config.model.base))])


def _grpo(run: Run, progress: RunProgress) -> None:
    """Train, and let a core that would idle meanwhile evaluate the models that are there already."""
    jobs = [_training_job(run, "grpo", run.folder / "sft" / "model")]
    processes = run.config.evaluate.processes
    if processes > 1:
        jobs += _missing_evaluations(run, ("base", "sft"))
    _run_jobs(run, progress, jobs, processes=processes)
    shutil.rmtree(run.folder / "grpo" / "checkpoints", ignore_errors=True)


def _training_job(run: Run, stage: str, model: Path) -> Job:
    """The job of a stage that trains; what an earlier attempt left is dropped where it had other inputs."""
    data = run.folder / "prepare" / f"{stage}.jsonl"
    path = run.stage(stage) / "job.json"
    job = {
        "kind": stage,
        "name": stage,
        "model": str(model.resolve()),
        "data": str(data.resolve()),
        "output": str(path.parent.resolve()),
        "inputs": {"model": tree_digest(model), "data": file_digest(data)},
        "config": run.config.model_dump(mode="json"),
    }
    if not _goes_on(path, job):
        run.clear(stage)
        run.stage(stage)
    return path, job


def _evaluate(run: Run, progress: RunProgress) -> None:
    folder = run.stage("evaluate")
    policies = run.config.evaluate.policies
    _run_jobs(run, progress, _missing_evaluations(run, policies), processes=run.config.evaluate.processes)
    env = environment(run.config)
    episodes = [Episode.from_dict(row) for row in read_rows(run.folder / "prepare" / "held_out.jsonl")]
    parts = {policy: folder / f"{policy}.jsonl" for policy in policies if policy in _MODELS}
    completions: list[records.RecordedCompletion] = []
    for policy in policies:
        if policy in parts:
            completions += records.read(parts[policy])
        else:
            answer = getattr(env, policy)
            completions += evaluate_reference(env, episodes, policy, answer, split=run.config.evaluate.anchor)
    records.write(folder / "completions.jsonl", completions)
    for part in parts.values():
        part.unlink()


def _missing_evaluations(run: Run, policies: Sequence[str]) -> list[Job]:
    """A job for each of these models whose completions are not there yet, or are another model's."""
    folder = run.stage("evaluate")
    jobs: list[Job] = []
    for policy in policies:
        if policy in _MODELS and policy in run.config.evaluate.policies:
            path, part = folder / f"{policy}.json", folder / f"{policy}.jsonl"
            job = _evaluation_job(run, policy, part)
            if not (_goes_on(path, job) and part.exists()):
                part.unlink(missing_ok=True)
                jobs.append((path, job))
    return jobs


def _evaluation_job(run: Run, policy: str, output: Path) -> dict[str, Any]:
    stage = _MODELS[policy]
    model = run.folder / stage / "model" if stage else find_model(run.config.model.base)
    episodes = run.folder / "prepare" / "held_out.jsonl"
    return {
        "kind": "evaluate",
        "name": _bar(policy),
        "policy": policy,
        "model": str(model.resolve()),
        "data": str(episodes.resolve()),
        "output": str(output.resolve()),
        "inputs": {"model": tree_digest(model), "data": file_digest(episodes)},
        "config": run.config.model_dump(mode="json"),
    }


def _goes_on(path: Path, job: Mapping[str, Any]) -> bool:
    """Whether what an earlier attempt left was made from the same inputs, by the same configuration."""
    if not path.exists():
        return False
    earlier = read_document(path)
    return all(earlier.get(key) == job[key] for key in ("inputs", "config"))


def _audit(run: Run, progress: RunProgress) -> None:
    progress.update("audit", 0, 1)
    completions = records.read(run.folder / "evaluate" / "completions.jsonl")
    report = audit(completions, policy="grpo", baseline="sft", env=environment(run.config))
    write_report(run.stage("audit"), report)


def _gate(run: Run, progress: RunProgress) -> None:
    progress.update("gate", 0, 1)
    completions = records.read(run.folder / "evaluate" / "completions.jsonl")
    steps = [row for row in read_rows(run.metrics) if row["stage"] == "grpo"] if run.metrics.exists() else []
    verdict = decide(
        [record for record in completions if record.policy == "sft"],
        [record for record in completions if record.policy == "grpo"],
        tolerance=run.config.gate.tolerance,
        audit=read_report(run.folder / "audit" / "report.json"),
        training_alarms=training_alarms(steps),
    )
    write_verdict(run.stage("gate") / "verdict.json", verdict)


_STAGES: Mapping[str, Callable[[Run, RunProgress], None]] = {
    "prepare": _prepare,
    "sft": _sft,
    "grpo": _grpo,
    "evaluate": _evaluate,
    "audit": _audit,
    "gate": _gate,
}


def _run_jobs(run: Run, progress: RunProgress, jobs: Sequence[Job], *, processes: int = 1) -> None:
    threads = run.config.model.threads
    run_jobs(jobs, log=run.log, threads=threads, report=reporter(run, progress), processes=processes)


def reporter(run: Run, progress: RunProgress) -> Report:
    """What is done with a child's messages: what trainers log is kept in `metrics.jsonl`, how far they are is drawn."""

    def report(message: Mapping[str, Any]) -> None:
        job = message["job"]
        if "resumed" in message:
            _forget_metrics(run, job, message["resumed"])
        elif "metrics" in message:
            with writing(run.metrics), run.metrics.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"stage": job, "step": message["step"], **message["metrics"]}) + "\n")
        else:
            progress.update(job, message["done"], message["total"])

    return report


def _forget_metrics(run: Run, stage: str, step: int) -> None:
    """Drop the rows of steps that a resumed training will take again."""
    if run.metrics.exists():
        rows = read_rows(run.metrics)
        write_rows(run.metrics, [row for row in rows if row["stage"] != stage or row["step"] <= step])
