"""An environment as TRL takes it: rows for the dataset, and a callable for `reward_funcs`.

    rows = dataset_rows(env, "train")
    GRPOTrainer(model, reward_funcs=reward_function(env), train_dataset=Dataset.from_list(rows), ...)

The episode travels in its row as JSON, so that a reward worker needs no split and no lookup. Nothing here imports TRL.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from rl_gym.gym.core import Environment, Episode, InfrastructureError, RewardBreakdown, score_completion
from rl_gym.gym.retry import attempt
from rl_gym.infra.errors import UsageError

__all__ = ["Answer", "RewardFunction", "Score", "dataset_rows", "reward_function"]

Answer = tuple[Episode, str]
"""An episode and a completion of it."""

Score = Callable[[Sequence[Answer]], Sequence[RewardBreakdown | InfrastructureError]]
"""Judges a batch, in order; a fault of ours stands in the place of the judgement that it cost."""


class RewardFunction(Protocol):
    """What `GRPOTrainer` calls: one reward a completion, None where it could not be scored."""

    __name__: str

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        *,
        episode: Sequence[str],
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]: ...


def dataset_rows(env: Environment, split: str) -> list[dict[str, str]]:
    """One row an episode: `prompt`, and `episode` as JSON."""
    return [
        {"prompt": env.prompt(episode), "episode": json.dumps(episode.to_dict(), sort_keys=True)}
        for episode in env.episodes(split)
    ]


def reward_function(env: Environment, *, retries: int = 2, score: Score | None = None) -> RewardFunction:
    """A callable for TRL's `reward_funcs`, named after the environment.

    Completions may be text or chat messages (the last one is read). They are judged here, a fault of ours tried
    `retries` times more, or by `score` wherever that does it. What met with a fault to the last is answered None, by
    which TRL leaves that sample out of the step. Where the trainer offers `log_metric`, the mean of each component, the
    gate rate and the valid rate of the batch are logged, and the share that could not be scored (`unscored`).

    The callable raises UsageError where the dataset has no `episode` column, and InfrastructureError where not one
    completion of a batch could be scored: then the verifier is down, and training on would teach nothing.
    """

    def score_here(answers: Sequence[Answer]) -> Sequence[RewardBreakdown | InfrastructureError]:
        return [attempt(partial(score_completion, env, text, asked), retries) for asked, text in answers]

    judge = score or score_here

    def reward(
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        *,
        episode: Sequence[str] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        if episode is None:
            raise UsageError("the training dataset has no column 'episode': make its rows with dataset_rows()")
        breakdowns = judge(
            [(_episode(row), _text(completion)) for completion, row in zip(completions, episode, strict=True)]
        )
        scored = [b for b in breakdowns if isinstance(b, RewardBreakdown)]
        faults = Counter(str(b) for b in breakdowns if isinstance(b, InfrastructureError))
        if faults and not scored:
            raise InfrastructureError(f"no completion of this batch could be scored: {faults.most_common(1)[0][0]}")
        if log_metric is not None and scored:
            for name, value in _metrics(scored, faults.total()).items():
                log_metric(name, value)
        return [b.reward if isinstance(b, RewardBreakdown) else None for b in breakdowns]

    reward.__name__ = f"{env.name}_reward"
    return reward


def _episode(row: str) -> Episode:
    try:
        return Episode.from_dict(json.loads(row))
    except (TypeError, ValueError, KeyError) as error:
        raise UsageError(f"column 'episode' of the training dataset holds no episode: {error!r}") from None


def _text(completion: str | Sequence[Mapping[str, Any]]) -> str:
    """The text of a completion in either of TRL's formats: plain text, or the messages of an assistant's turn."""
    if isinstance(completion, str):
        return completion
    return str(completion[-1].get("content") or "") if completion else ""


def _metrics(scored: Sequence[RewardBreakdown], faults: int) -> dict[str, float]:
    raw: dict[str, list[float]] = defaultdict(list)
    for breakdown in scored:
        for name, value in breakdown.components.items():
            if value is not None:
                raw[f"component/{name}"].append(value)
        raw["gate_rate"].append(not breakdown.gated)
        raw["valid_rate"].append(breakdown.valid)
    metrics = {name: sum(values) / len(values) for name, values in raw.items()}
    return metrics | {"unscored": faults / (len(scored) + faults)}
