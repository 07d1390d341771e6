"""The serving table: pass@1 and best-of-n, without and with a repair turn, all four from one set of samples.

Of every episode n samples are drawn once, and the served loop is run over them n + 1 times: over each sample alone, as
`pass@1+repair` runs, and over all of them, as `best-of-n+repair` does. A cell without repair is the same run before its
repair turn. Repair turns take the likeliest tokens, so the one that follows the best sample is one of the n: it is
asked once.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rl_gym.gym.core import Episode
from rl_gym.gym.statistics import Interval, mean_interval, paired_difference
from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.serving.judges import Judge, Standard
from rl_gym.serving.loop import FULL_REWARD, Plan
from rl_gym.serving.tables.asking import AT_ONCE, Entrant, each
from rl_gym.serving.tables.served import EpisodeAnswers, Run, answer_episode
from rl_gym.wire.generate import Mode

__all__ = ["Cell", "Repairs", "ServeTable", "serve_table"]

_MOST_FAILED = 0.05

_Runs = Mapping[str, Sequence[Run]]
"""Runs of the loop by episode."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One mode. `reward` and `full` (the share of answers of reward 1) are clustered by episode; `n` is answers.

    Tokens and `usd` are means over the requests that were answered, every turn of a request included; `usd` is None
    where no price is known.
    """

    mode: Mode
    n: int
    reward: Interval
    full: Interval
    prompt_tokens: float
    completion_tokens: float
    usd: float | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "mode": self.mode,
            "n": self.n,
            "reward": self.reward.to_dict(),
            "full_passes": self.full.to_dict(),
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "usd_per_request": self.usd,
        }


@dataclass(frozen=True, slots=True)
class Repairs:
    """What came of repair turns. `due` counts first passes below 1 of which the verifier says what to mend; of those
    `attempts` had an answer, `does_not_fit` no room for one, and `failed` met a fault of ours: they stand as they were.

    `conversions` are attempts that ended at reward 1, `improved` those whose second pass is the better one. `gain` is
    the paired difference in reward that the turn makes.
    """

    mode: Mode
    due: int
    attempts: int
    does_not_fit: int
    failed: int
    conversions: int
    improved: int
    gain: Interval

    def to_dict(self) -> dict[str, Any]:
        counts = ("mode", "due", "attempts", "does_not_fit", "failed", "conversions", "improved")
        return {**{name: getattr(self, name) for name in counts}, "gain": self.gain.to_dict()}


@dataclass(frozen=True, slots=True)
class ServeTable:
    """The four cells, what repair does in each column, and how much best-of-n is above pass@1, without and with it.

    `unreadable` counts episodes whose prompt leaves no room for an answer: in each cell they count as an empty one.
    """

    name: str
    episodes: int
    samples: int
    unreadable: int
    cells: list[Cell]
    repairs: list[Repairs]
    gap: Interval
    gap_with_repair: Interval
    reproducible: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.name,
            "episodes": self.episodes,
            "samples": self.samples,
            "unreadable": self.unreadable,
            "cells": [cell.to_dict() for cell in self.cells],
            "repairs": [one.to_dict() for one in self.repairs],
            "gap": self.gap.to_dict(),
            "gap_with_repair": self.gap_with_repair.to_dict(),
            "reproducible": self.reproducible,
        }


async def serve_table(
    entrant: Entrant,
    judge: Judge,
    standard: Standard,
    episodes: Sequence[Episode],
    plan: Plan,
    *,
    at_once: int = AT_ONCE,
    progress: Callable[[int, int], None] | None = None,
) -> ServeTable:
    """Ask, judge and repair every episode; `plan` says how, its `n` (at least 2) how many samples.

    `progress(done, total)` counts episodes. Raises UsageError for no episode or n = 1, as engine and judge do for a
    first pass, and InfrastructureError where a share above 0.05 of the repair turns met a fault.
    """
    if not episodes:
        raise UsageError("serve-table: there are no episodes to ask")
    if plan.n < 2:
        raise UsageError(f"serve-table: best-of-n needs at least 2 samples, not {plan.n}")

    async def work(number: int, episode: Episode) -> EpisodeAnswers:
        # A seed of its own, so that episodes are independent draws.
        own = replace(plan, seed=(plan.seed or 0) + number)
        return await answer_episode(entrant.column, judge, standard, episode, own)

    answered = await each(episodes, work, at_once=at_once, progress=progress)
    by_episode = {episode.hash: one for episode, one in zip(episodes, answered, strict=True)}
    return await asyncio.to_thread(_table, entrant, plan, by_episode)


def _table(entrant: Entrant, plan: Plan, answered: Mapping[str, EpisodeAnswers]) -> ServeTable:
    single = {key: one.single for key, one in answered.items()}
    chosen = {key: [one.best] for key, one in answered.items()}
    modes: list[tuple[Mode, _Runs, bool]] = [
        ("pass@1", single, False),
        ("pass@1+repair", single, True),
        ("best-of-n", chosen, False),
        ("best-of-n+repair", chosen, True),
    ]
    rewards = {mode: _rewards(runs, repaired) for mode, runs, repaired in modes}
    return ServeTable(
        name=entrant.name,
        episodes=len(answered),
        samples=plan.n,
        unreadable=sum(one.unreadable for one in answered.values()),
        cells=[_cell(mode, rewards[mode], runs, repaired) for mode, runs, repaired in modes],
        repairs=[_repairs(mode, runs) for mode, runs, repaired in modes if repaired],
        gap=paired_difference(rewards["pass@1"], rewards["best-of-n"]),
        gap_with_repair=paired_difference(rewards["pass@1+repair"], rewards["best-of-n+repair"]),
        reproducible=entrant.column.deterministic(plan.first()),
    )


def _rewards(runs: _Runs, repaired: bool) -> dict[str, list[float]]:
    return {key: [one.after.reward if repaired else one.before.reward for one in own] for key, own in runs.items()}


def _cell(mode: Mode, rewards: Mapping[str, list[float]], runs: _Runs, repaired: bool) -> Cell:
    every = [one.after if repaired else one.before for own in runs.values() for one in own]
    usages = [stand.usage for stand in every if stand.usage is not None]
    prices = [stand.usd for stand in every if stand.usd is not None]
    return Cell(
        mode=mode,
        n=len(every),
        reward=mean_interval(rewards),
        full=mean_interval({key: [float(one >= FULL_REWARD) for one in own] for key, own in rewards.items()}),
        prompt_tokens=_mean([usage.prompt_tokens for usage in usages]),
        completion_tokens=_mean([usage.completion_tokens for usage in usages]),
        usd=_mean(prices) if prices else None,
    )


def _repairs(mode: Mode, runs: _Runs) -> Repairs:
    every = [one for own in runs.values() for one in own]
    outcomes = Counter(one.outcome for one in every)
    due = [one for one in every if one.outcome not in ("not_needed", "not_asked")]
    answered = [one for one in due if one.outcome in ("improved", "kept_first")]
    if outcomes["failed"] > _MOST_FAILED * len(due):
        raise InfrastructureError(f"{mode}: {outcomes['failed']} of {len(due)} repair turns met a fault of ours")
    return Repairs(
        mode=mode,
        due=len(due),
        attempts=len(answered),
        does_not_fit=outcomes["does_not_fit"],
        failed=outcomes["failed"],
        conversions=sum(one.after.reward >= FULL_REWARD for one in answered),
        improved=outcomes["improved"],
        gain=paired_difference(_rewards(runs, False), _rewards(runs, True)),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0
