"""Repair turns inside the training child: a second attempt at each recorded completion that is due one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import judged
from rl_gym.gym.registry import get_env
from rl_gym.serving.local_model import LocalModel
from rl_gym.serving.repair_turns import repair_prompts, repair_tokens
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.training.config import Config
from rl_gym.training.determinism import pin
from rl_gym.training.files import read_rows
from rl_gym.training.repairs import due, problems_of
from rl_gym.training.rollouts import load_model

if TYPE_CHECKING:
    from rl_gym.training.child import Channel

__all__ = ["answer_again"]


def answer_again(job: Mapping[str, Any], channel: Channel) -> None:
    """Have `job["model"]` mend its own completions in `job["completions"]`, as serving would ask it to.

    The second answers land in `job["output"]` as records under the number of the first; one is missing where no answer
    was due, or no prompt for it fits the model. The same answer to an episode is mended once.
    """
    config = Config.model_validate(job["config"])
    pin(config.seed, config.model.threads)
    env = get_env(config.environment.name, **config.environment.options)
    episodes = {episode.hash: episode for episode in map(Episode.from_dict, read_rows(Path(job["data"])))}
    model = load_model(job, config)
    wanted: dict[tuple[str, str], tuple[str, int]] = {}
    failed = due(env, records.read(Path(job["completions"])), episodes)
    for record in failed:
        episode = episodes[record.episode_hash]
        room = repair_tokens(record.completion_tokens or 0, config.episodes.max_tokens)
        prompts = repair_prompts(env, episode, record.breakdown.action, problems_of(env, record, episode))
        fitting = next((text for text in prompts if model.fits(text, Sampling(max_tokens=room, greedy=True))), None)
        if fitting is not None:
            wanted[(record.episode_hash, record.completion)] = fitting, room
    answers = _answers(model, wanted, channel, job["name"])
    again = []
    for record in failed:
        sample = answers.get((record.episode_hash, record.completion))
        if sample is not None:
            text = sample.text.encode("utf-8", "replace").decode()
            again.append(
                record.model_copy(
                    update={
                        "completion": text,
                        "completion_tokens": sample.tokens,
                        "finish_reason": sample.finish_reason,
                        **judged(env, text, episodes[record.episode_hash]),
                    }
                )
            )
    records.write(Path(job["output"]), again)


def _answers(
    model: LocalModel, wanted: Mapping[tuple[str, str], tuple[str, int]], channel: Channel, name: str
) -> dict[tuple[str, str], Sample]:
    """The likeliest answer to each prompt, those of the same length limit together."""
    answers: dict[tuple[str, str], Sample] = {}
    done = 0

    def progress(prompts: int) -> None:
        nonlocal done
        done += prompts
        channel.progress(name, done, len(wanted))

    for room in sorted({room for _, room in wanted.values()}):
        keys = [key for key, (_, own) in wanted.items() if own == room]
        prompts = [wanted[key][0] for key in keys]
        made = model.complete(prompts, Sampling(max_tokens=room, greedy=True), progress=progress)
        answers |= {key: samples[0] for key, samples in zip(keys, made, strict=True)}
    return answers
