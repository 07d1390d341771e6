"""Recorded completions of an outside model judged again, offline: a row a folder, and blind against rulebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rl_gym.gym.core import Environment, Episode
from rl_gym.gym.evaluation import evaluate
from rl_gym.gym.pairing import MEASURES, Measure, values_by_episode
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import Interval, mean_interval, paired_difference, wilson
from rl_gym.serving.loop import FULL_REWARD
from rl_gym.serving.tables.baseline import PromptKind, Recorded, TokenPrices

__all__ = ["Baseline", "BaselineRow", "Comparison", "score_baselines"]


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """One folder. `reward` has a bootstrap interval, the shares have Wilson's, since an episode has one answer.

    `missing` are the episodes without a file: they count nowhere. Tokens are means of a request; `usd` is what one
    costs at the prices, None without.
    """

    model: str
    prompt: PromptKind
    date: str
    n: int
    missing: list[int]
    reward: Interval
    gate_rate: Interval
    valid_rate: Interval
    full: Interval
    prompt_tokens: float
    completion_tokens: float
    prices: TokenPrices | None
    usd: float | None

    @property
    def name(self) -> str:
        return f"{self.model} ({self.prompt})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "prompt": self.prompt,
            "date": self.date,
            "n": self.n,
            "missing": self.missing,
            "reward": self.reward.to_dict(),
            "gate_rate": self.gate_rate.to_dict(),
            "valid_rate": self.valid_rate.to_dict(),
            "full_passes": self.full.to_dict(),
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "prices": self.prices and self.prices.model_dump(),
            "usd_per_request": self.usd,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the rulebook adds to a model, paired over the episodes that both folders answer."""

    model: str
    reward: Interval
    full: Interval

    def to_dict(self) -> dict[str, Any]:
        return {"model": self.model, "reward": self.reward.to_dict(), "full_passes": self.full.to_dict()}


@dataclass(frozen=True, slots=True)
class Baseline:
    """The table, and the records that it was made of; `digest` names what decided the rewards."""

    anchor: str
    episodes: int
    digest: str
    rows: list[BaselineRow]
    comparisons: list[Comparison]
    records: list[RecordedCompletion]

    def to_dict(self) -> dict[str, Any]:
        return {
            "anchor": self.anchor,
            "episodes": self.episodes,
            "digest": self.digest,
            "rows": [row.to_dict() for row in self.rows],
            "rulebook": [one.to_dict() for one in self.comparisons],
        }


def score_baselines(
    env: Environment,
    anchor: str,
    recorded: Sequence[Recorded],
    *,
    prices: TokenPrices | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Baseline:
    """Judge every completion as `evaluate` does; `prices` stand in the place of those of the manifests.

    `progress(done, total)` counts completions.
    """
    episodes = env.episodes(anchor)
    total, before = sum(len(one.completions) for one in recorded), 0
    rows, everything = [], []
    for one in recorded:
        told = None if progress is None else _counting(progress, before, total)
        records = _judged(env, anchor, episodes, one, told)
        before += len(one.completions)
        rows.append(_row(one, records, len(episodes), prices or one.manifest.prices))
        everything += records
    return Baseline(anchor, len(episodes), env.reward.digest, rows, _comparisons(recorded, everything), everything)


def _counting(progress: Callable[[int, int], None], before: int, total: int) -> Callable[[int, int], None]:
    return lambda done, _: progress(before + done, total)


@dataclass(frozen=True, slots=True)
class _Written:
    """A completion whose end nobody recorded."""

    text: str
    tokens: int | None
    finish_reason: None = None


def _judged(
    env: Environment,
    anchor: str,
    episodes: Sequence[Episode],
    one: Recorded,
    progress: Callable[[int, int], None] | None,
) -> list[RecordedCompletion]:
    left = iter(one.completions.items())

    def complete(prompts: Sequence[str], samples: int, greedy: bool) -> list[list[_Written]]:
        return [[_Written(text, one.tokens_of(number))] for number, text in islice(left, len(prompts))]

    return evaluate(
        env,
        [episodes[number] for number in one.completions],
        one.name,
        complete,
        split=anchor,
        samples=1,
        greedy=False,
        model=one.manifest.model,
        batch=8,
        on_progress=progress,
    )


def _full(record: RecordedCompletion) -> float:
    return float(record.breakdown.reward >= FULL_REWARD)


def _row(
    one: Recorded, records: Sequence[RecordedCompletion], episodes: int, prices: TokenPrices | None
) -> BaselineRow:
    tokens, n = one.tokens(), len(one.completions)
    usd = None
    if prices is not None:
        usd = tokens.prompt * prices.prompt_million + tokens.completion * prices.completion_million
        usd /= 1e6 * n
    return BaselineRow(
        model=one.manifest.model,
        prompt=one.manifest.prompt,
        date=one.manifest.date,
        n=len(records),
        missing=[number for number in range(episodes) if number not in one.completions],
        reward=mean_interval(values_by_episode(records, MEASURES["reward"])),
        gate_rate=_share(records, MEASURES["gate_rate"]),
        valid_rate=_share(records, MEASURES["valid_rate"]),
        full=_share(records, _full),
        prompt_tokens=tokens.prompt / n,
        completion_tokens=tokens.completion / n,
        prices=prices,
        usd=usd,
    )


def _share(records: Sequence[RecordedCompletion], measure: Measure) -> Interval:
    return wilson(sum(measure(record) > 0 for record in records), len(records))


def _comparisons(recorded: Sequence[Recorded], records: Sequence[RecordedCompletion]) -> list[Comparison]:
    models = dict.fromkeys(one.manifest.model for one in recorded)
    found = []
    for model in models:
        kinds = [[r for r in records if r.policy == f"{model} ({kind})"] for kind in ("blind", "rulebook")]
        common = set.intersection(*({r.episode_hash for r in own} for own in kinds))
        if common:
            blind, ruled = ([r for r in own if r.episode_hash in common] for own in kinds)
            found.append(
                Comparison(
                    model,
                    *(
                        paired_difference(values_by_episode(blind, measure), values_by_episode(ruled, measure))
                        for measure in (MEASURES["reward"], _full)
                    ),
                )
            )
    return found
