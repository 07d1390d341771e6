"""What is learnt from answers that a model gave to its training prompts: the best of them, or how to mend the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pydantic import BaseModel, ConfigDict

from rl_gym.gym.core import Environment, Episode, environment_faults
from rl_gym.infra.errors import UsageError
from rl_gym.serving.repair_turns import FULL_REWARD, repair_due, repair_prompts
from rl_gym.training.continual import RaftSection, RepairSection

__all__ = ["Best", "Repairs", "RolledOut", "best_answers", "own_answers", "repair_rows"]


class RolledOut(BaseModel):
    """One sampled answer to a training prompt; `reward` is None where a fault of ours kept it from being judged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: str
    episode: str
    """As JSON, as in the row of the prompt."""
    completion: str
    tokens: int
    finish_reason: str
    reward: float | None

    def asked(self) -> Episode:
        return Episode.from_dict(json.loads(self.episode))


@dataclass(frozen=True, slots=True)
class Best:
    """Rows for SFT, and the pass rate by the content hash of the episode: a difficulty map."""

    rows: list[dict[str, str]]
    rates: dict[str, float]


def best_answers(samples: Sequence[RolledOut], section: RaftSection) -> Best:
    """Of each prompt's samples, which stand together, the first of the best, where it reaches `section.threshold`.

    What was cut off by the token limit is never kept. A pass rate is the share of the judged samples that reach the
    threshold. Raises UsageError where nothing is kept.
    """
    rows, rates = [], {}
    for _, group in groupby(samples, key=lambda sample: sample.episode):
        judged = [(sample, sample.reward) for sample in group if sample.reward is not None]
        if not judged:
            continue
        episode = judged[0][0].asked()
        rates[episode.hash] = sum(reward >= section.threshold for _, reward in judged) / len(judged)
        whole = [pair for pair in judged if pair[0].finish_reason == "stop" and pair[1] >= section.threshold]
        if whole:
            best = max(whole, key=lambda pair: pair[1])[0]
            rows.append({"prompt": best.prompt, "completion": best.completion, "episode_id": episode.id})
    if not rows:
        raise UsageError(
            f"raft: none of {len(samples)} answers to {len(rates)} prompts is whole and has a reward of at least "
            f"{section.threshold:g}: lower raft.threshold, raise raft.samples, or train longer before"
        )
    return Best(rows, rates)


def own_answers(samples: Sequence[RolledOut]) -> list[dict[str, str]]:
    """Rows for SFT of the answers that are whole and of full reward, each once.

    A model that learns them among something new keeps to what it wrote anyway.
    """
    perfect = {
        (sample.prompt, sample.completion): sample.asked().id
        for sample in samples
        if sample.finish_reason == "stop" and sample.reward is not None and sample.reward >= FULL_REWARD
    }
    return [
        {"prompt": prompt, "completion": completion, "episode_id": episode}
        for (prompt, completion), episode in perfect.items()
    ]


@dataclass(frozen=True, slots=True)
class Repairs:
    """Rows for SFT, and what became of the samples.

    `failed` of `samples` were due a second attempt; of those `repeated` are like one before, `without_reference` belong
    to an episode that has no answer to learn from, and `too_long` have no repair prompt within the bound.
    """

    rows: list[dict[str, str]]
    samples: int
    failed: int
    repeated: int
    without_reference: int
    too_long: int

    def counts(self) -> dict[str, int]:
        names = ("samples", "failed", "repeated", "without_reference", "too_long")
        return {**{name: getattr(self, name) for name in names}, "kept": len(self.rows)}


def repair_rows(
    env: Environment, samples: Sequence[RolledOut], section: RepairSection, count_tokens: Callable[[str], int]
) -> Repairs:
    """For each answer that failed: the prompt that serving would ask a second attempt with, and the oracle's answer.

    Raises UsageError where nothing is kept.
    """
    rows: list[dict[str, str]] = []
    seen: set[tuple[str, str]] = set()
    counts = {"failed": 0, "repeated": 0, "without_reference": 0, "too_long": 0}
    for sample, episode, answer, problems in _failures(env, samples):
        counts["failed"] += 1
        if (sample.episode, answer) in seen:
            counts["repeated"] += 1
            continue
        seen.add((sample.episode, answer))
        if episode.data.get("training_only"):
            # Its best known answer is a fixer's work, which is never trained as the model's own.
            counts["without_reference"] += 1
            continue
        prompts = repair_prompts(env, episode, answer, problems)
        prompt = next((text for text in prompts if count_tokens(text) <= section.max_prompt_tokens), None)
        if prompt is None:
            counts["too_long"] += 1
            continue
        rows.append({"prompt": prompt, "completion": env.oracle(episode), "episode_id": episode.id})
    if not rows:
        raise UsageError(
            f"repair: none of {len(samples)} answers makes an episode to repair ({_told(counts)}): raise "
            "repair.max_prompt_tokens, repair.samples or episodes.grpo, or there is nothing to mend"
        )
    return Repairs(rows, len(samples), **counts)


def _failures(env: Any, samples: Sequence[RolledOut]) -> Iterator[tuple[RolledOut, Episode, str, Sequence[str]]]:
    for sample in samples:
        if sample.reward is None or not hasattr(env, "problems"):
            continue
        episode = sample.asked()
        with environment_faults(env, episode):
            action = env.parse(sample.completion, episode)
            problems = env.problems(action, episode)
        if repair_due(env, sample.reward, problems):
            yield sample, episode, "" if action is None else action.text, problems


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
