"""Sampling of one model inside the training child: completions of held-out or of training prompts, judged and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import evaluate
from rl_gym.gym.registry import get_env
from rl_gym.serving.local_model import LocalModel
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.training.config import Config
from rl_gym.training.determinism import pin
from rl_gym.training.files import read_rows, write_rows
from rl_gym.training.rewards import rewards

if TYPE_CHECKING:
    from rl_gym.training.child import Channel

__all__ = ["evaluate_model", "load_model", "roll_out"]

_JUDGED_AT_ONCE = 32
"""Prompts whose samples are judged together."""


def evaluate_model(job: Mapping[str, Any], channel: Channel) -> None:
    """Sample `job["model"]` on the episodes in `job["data"]` and write the records to `job["output"]`.

    Where that is an adapter, the job names the model under it in `job["base"]`.
    """
    config = Config.model_validate(job["config"])
    pin(config.seed, config.model.threads)
    env = get_env(config.environment.name, **config.environment.options)
    episodes = [Episode.from_dict(row) for row in read_rows(Path(job["data"]))]
    model = load_model(job, config)
    done = 0

    def complete(prompts: Sequence[str], samples: int, greedy: bool) -> list[list[Sample]]:
        def progress(count: int) -> None:
            nonlocal done
            done += count * samples
            channel.progress(job["name"], done, len(episodes) * (config.evaluate.samples + 1))

        sampling = Sampling(
            n=samples,
            temperature=config.evaluate.temperature,
            max_tokens=config.episodes.max_tokens,
            seed=config.seed,
            greedy=greedy,
        )
        return model.complete(prompts, sampling, progress=progress)

    recorded = evaluate(
        env,
        episodes,
        job["policy"],
        complete,
        split=config.evaluate.anchor,
        samples=config.evaluate.samples,
        model=job["inputs"]["model"],
        batch=len(episodes),
    )
    records.write(Path(job["output"]), recorded)


def load_model(job: Mapping[str, Any], config: Config) -> LocalModel:
    """The model of a job: `job["model"]`, or that adapter over the model `job["base"]` where the job names one."""
    base = job.get("base")
    return LocalModel(
        base or job["model"], batch_size=config.evaluate.batch_size, adapter=job["model"] if base else None
    )


def roll_out(job: Mapping[str, Any], channel: Channel) -> None:
    """Sample `job["model"]` on the training prompts in `job["data"]`, `job["section"]` says how, and judge the samples.

    They land in `samples.jsonl` of `job["output"]`, all of a prompt together: its row, completion, `tokens`,
    `finish_reason` and `reward`, which is computed as in training and is None where that met with a fault of ours.
    """
    config = Config.model_validate(job["config"])
    section, name = getattr(config, job["section"]), job["name"]
    pin(config.seed, config.model.threads)
    env = get_env(config.environment.name, **config.environment.options)
    rows = read_rows(Path(job["data"]))
    sampling = Sampling(
        n=section.samples,
        temperature=section.temperature,
        max_tokens=config.episodes.max_tokens,
        seed=config.seed,
    )
    done = 0

    def progress(prompts: int) -> None:
        nonlocal done
        done += prompts
        channel.progress(name, done, len(rows))

    with rewards(env, config.environment, rows, job.get("verifier"), lambda text: channel.note(name, text)) as reward:
        model = load_model(job, config)
        answers = model.complete([row["prompt"] for row in rows], sampling, progress=progress)
        sampled = [(row, sample) for row, own in zip(rows, answers, strict=True) for sample in own]
        judged: list[float | None] = []
        for start in range(0, len(sampled), _JUDGED_AT_ONCE * section.samples):
            part = sampled[start : start + _JUDGED_AT_ONCE * section.samples]
            judged += reward(
                prompts=[row["prompt"] for row, _ in part],
                completions=[sample.text for _, sample in part],
                episode=[row["episode"] for row, _ in part],
            )
    write_rows(
        Path(job["output"]) / "samples.jsonl",
        [
            {
                "prompt": row["prompt"],
                "episode": row["episode"],
                "completion": sample.text,
                "tokens": sample.tokens,
                "finish_reason": sample.finish_reason,
                "reward": value,
            }
            for (row, sample), value in zip(sampled, judged, strict=True)
        ],
    )
