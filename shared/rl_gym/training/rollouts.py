"""Evaluation of one model inside the training child: completions of the held-out episodes, scored and recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import evaluate
from rl_gym.gym.registry import get_env
from rl_gym.serving.backends import Sample, Sampling, TransformersBackend
from rl_gym.training.config import Config
from rl_gym.training.determinism import pin
from rl_gym.training.files import read_rows

if TYPE_CHECKING:
    from rl_gym.training.child import Channel

__all__ = ["evaluate_model"]


def evaluate_model(job: Mapping[str, Any], channel: Channel) -> None:
    """Sample `job["model"]` on the episodes in `job["data"]` and write the records to `job["output"]`."""
    config = Config.model_validate(job["config"])
    pin(config.seed, config.model.threads)
    env = get_env(config.environment.name, **config.environment.options)
    episodes = [Episode.from_dict(row) for row in read_rows(Path(job["data"]))]
    backend = TransformersBackend(job["model"], batch_size=config.evaluate.batch_size)
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
        return backend.complete(prompts, sampling, progress=progress)

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
