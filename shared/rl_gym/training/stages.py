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

_JOB = "job.json"
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
    models = [policy for policy in config.evaluate.policies if policy in _MODELS]
    return {
        "prepare": 4.0,
        "sft": 8.0 + config.sft.steps * config.sft.batch_size / 32,
        "grpo": 8.0 + config.grpo.steps * config.grpo.prompts_per_step * config.grpo.generations / 12,
        **dict.fromkeys(models, 5.0 + answers / 20 / config.evaluate.processes),
        "audit": 2.0,
        "gate": 2.0,
    }


def environment(config: Config) -> Environment:
    """The environment of a run, with the options that its preset pins."""
    return get_env(config.environment.name, **config.environment.options)


def _execute_stage(run: Run, name: str, progress: RunProgress) -> None:
    if not run.stands(name):
        if run.ended(name):
            # It ended on other inputs than the ones that stand now.
            run.clear(name)
        run.stage(name)
        _STAGES[name](run, progress)
        run.seal(name)
    for job in _jobs(run.config, name):
        progress.finish(job)


def _jobs(config: Config, stage: str) -> Sequence[str]:
    return [p for p in config.evaluate.policies if p in _MODELS] if stage == "evaluate" else [stage]


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
    _train(run, progress, "sft", find_model(run.config.model.base))


def _grpo(run: Run, progress: RunProgress) -> None:
    _train(run, progress, "grpo", run.folder / "sft" / "model")


def _train(run: Run, progress: RunProgress, stage: str, model: Path) -> None:
    folder = run.stage(stage)
    data = run.folder / "prepare" / f"{stage}.jsonl"
    job = {
        "kind": stage,
        "model": str(model.resolve()),
        "data": str(data.resolve()),
        "output": str(folder.resolve()),
        "inputs": {"model": tree_digest(model), "data": file_digest(data)},
        "config": run.config.model_dump(mode="json"),
    }
    if not _goes_on(folder / _JOB, job):
        run.clear(stage)
        run.stage(stage)
    _run_jobs(run, progress, [(folder / _JOB, job)])
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)


def _evaluate(run: Run, progress: RunProgress) -> None:
    folder = run.stage("evaluate")
    parts = {policy: folder / f"{policy}.jsonl" for policy in run.config.evaluate.policies}
    jobs = []
    for policy in [policy for policy in parts if policy in _MODELS]:
        path, job = folder / f"{policy}.json", _evaluation_job(run, policy, parts[policy])
        if not (_goes_on(path, job) and parts[policy].exists()):
            jobs.append((path, job))
    _run_jobs(run, progress, jobs, processes=run.config.evaluate.processes)
    env = environment(run.config)
    episodes = [Episode.from_dict(row) for row in read_rows(run.folder / "prepare" / "held_out.jsonl")]
    completions: list[records.RecordedCompletion] = []
    for policy, part in parts.items():
        if policy in _MODELS:
            completions += records.read(part)
        else:
            answer = getattr(env, policy)
            completions += evaluate_reference(env, episodes, policy, answer, split=run.config.evaluate.anchor)
    records.write(folder / "completions.jsonl", completions)
    for part in parts.values():
        part.unlink(missing_ok=True)


def _evaluation_job(run: Run, policy: str, output: Path) -> dict[str, Any]:
    stage = _MODELS[policy]
    model = run.folder / stage / "model" if stage else find_model(run.config.model.base)
    episodes = run.folder / "prepare" / "held_out.jsonl"
    return {
        "kind": "evaluate",
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


def _run_jobs(
    run: Run, progress: RunProgress, jobs: Sequence[tuple[Path, Mapping[str, Any]]], *, processes: int = 1
) -> None:
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
