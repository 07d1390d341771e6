"""Steps a second of nano's GRPO through TRL: on the GPU in bfloat16, and on the CPU of the same machine in float32.

    sh bench/gpu.sh

which finds the packages and bounds the time. SFT first, so that the groups are those of a model that knows the task.
Skips, and says why, where torch has no CUDA device. Fetches nothing.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rl_gym.gym.registry import get_env
from rl_gym.iac.tasks.parametric import nano_episode
from rl_gym.serving.weights import find_model
from rl_gym.training.config import Config, resolve
from rl_gym.training.files import write_rows
from rl_gym.training.supervise import run_jobs

WARM_UP = 2
"""The first steps load kernels, and are not counted."""


def main() -> None:
    reason = _no_gpu()
    if reason:
        print(f"skipped: {reason}")
        return
    with tempfile.TemporaryDirectory() as folder:
        found = {
            "GPU, bfloat16": grpo_steps(Path(folder) / "gpu", 25, "bf16", {}),
            "CPU, float32": grpo_steps(Path(folder) / "cpu", 10, "fp32", {"CUDA_VISIBLE_DEVICES": ""}),
        }
    print("| where | steps | median s a step | steps/s | GRPO tokens/s |\n|---|---|---|---|---|")
    for where, (seconds, tokens) in found.items():
        middle = statistics.median(seconds)
        rate = sum(tokens) / sum(seconds)
        print(f"| {where} | {len(seconds)} | {middle:.3f} | {1 / middle:.2f} | {rate:.0f} |")


def _no_gpu() -> str:
    """Why there is nothing to measure here, or nothing."""
    try:
        import torch
    except ImportError:
        return "torch is not installed"
    if torch.version.cuda is None:
        return f"torch {torch.__version__} was built without CUDA"
    if not torch.cuda.is_available():
        return f"torch {torch.__version__} finds no CUDA device"
    if not torch.cuda.is_bf16_supported():
        return f"{torch.cuda.get_device_name()} has no bfloat16"
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {os.cpu_count()} cores", flush=True)
    return ""


def grpo_steps(
    folder: Path, steps: int, precision: str, environment: dict[str, str]
) -> tuple[list[float], list[float]]:
    """Seconds and completion tokens of each step that counts, trained in `folder`."""
    changes = [f"grpo.steps={steps}", f"grpo.save_steps={steps}", "sft.steps=10"]
    changes += [f"sft.precision={precision}", f"grpo.precision={precision}"]
    config = resolve("nano", changes)
    found: list[Mapping[str, Any]] = []
    base = find_model(config.model.base)
    _write_data(folder, config)
    os.environ.update(environment)
    for stage, model in (("sft", base), ("grpo", folder / "sft" / "model")):
        job = {"kind": stage, "name": stage, "model": str(model), "data": str(folder / f"{stage}.jsonl")}
        job |= {"output": str(folder / stage), "config": config.model_dump(mode="json")}
        (folder / stage).mkdir()
        jobs = [(folder / stage / "job.json", job)]
        run_jobs(jobs, log=folder / "log.txt", threads=config.model.threads, report=found.append)
    rows = [row["metrics"] for row in found if row["job"] == "grpo" and "step_time" in row.get("metrics", ())][WARM_UP:]
    batch = config.grpo.prompts_per_step * config.grpo.generations
    return [row["step_time"] for row in rows], [row["completions/mean_length"] * batch for row in rows]


def _write_data(folder: Path, config: Config) -> None:
    """Episodes as nano trains on, without the look at the anchors: that needs more packages, and nothing is judged."""
    env = get_env(config.environment.name, **config.environment.options)
    episodes = [nano_episode(number, "train") for number in range(1000)]
    episodes = [episode for episode in episodes if len(episode.data["required"]) <= config.episodes.max_resources]
    folder.mkdir()
    write_rows(folder / "sft.jsonl", ({"prompt": env.prompt(e), "completion": env.oracle(e)} for e in episodes[:320]))
    rows = ({"prompt": env.prompt(e), "episode": json.dumps(e.to_dict())} for e in episodes[320:560])
    write_rows(folder / "grpo.jsonl", rows)


if __name__ == "__main__":
    main()
