"""The bake-off: base models on an anchor before any is trained, sampled and greedy, each against the first."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from rl_gym.gym.core import Environment, Episode
from rl_gym.gym.evaluation import evaluate
from rl_gym.gym.ladder import LadderRow, ladder, lift
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import Interval
from rl_gym.iac.rulebook import Rulebook, with_rulebook
from rl_gym.infra.errors import UsageError
from rl_gym.serving.cost import total
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.serving.tables.asking import AT_ONCE, Asked, Entrant, ask, each

__all__ = ["Bakeoff", "BakeoffRow", "Lead", "Sitting", "bakeoff"]


@dataclass(frozen=True, slots=True)
class Sitting:
    """What every model of a bake-off is asked, and how: `samples` answers an episode, and a greedy one."""

    env: Environment
    anchor: str
    episodes: Sequence[Episode]
    samples: int = 4
    max_tokens: int = 512
    temperature: float = 1.0
    seed: int = 0
    at_once: int = AT_ONCE

    def __post_init__(self) -> None:
        if not self.episodes:
            raise UsageError(f"bakeoff: the anchor {self.anchor} has no episodes to ask")

    def sampling(self, number: int, greedy: bool) -> Sampling:
        """How episode `number` is asked: with a seed of its own, so that episodes are independent draws."""
        if greedy:
            return Sampling(greedy=True, max_tokens=self.max_tokens)
        return Sampling(self.samples, self.temperature, max_tokens=self.max_tokens, seed=self.seed + number)


@dataclass(frozen=True, slots=True)
class BakeoffRow:
    """One model. `rung` has n, reward, gate rate and valid rate, sampled and greedy, with intervals.

    `tokens` is the mean of a sampled answer and `truncated` the share of those that `max_tokens` cut, both over the
    prompts that could be read; `unreadable` counts the others, which were answered by nothing. `seconds` is the
    wall-clock of all asking. `usd` is what a request costs, prompt and one greedy answer; None where no price is known.
    `over_first` is the paired difference in sampled reward to the first row.
    """

    rung: LadderRow
    tokens: float
    truncated: float
    unreadable: int
    seconds: float
    usd: float | None
    over_first: Interval | None
    reproducible: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.rung.to_dict(),
            "tokens": self.tokens if math.isfinite(self.tokens) else None,
            "truncated": self.truncated if math.isfinite(self.truncated) else None,
            "unreadable": self.unreadable,
            "seconds": self.seconds,
            "usd_per_request": self.usd,
            "over_first": self.over_first and self.over_first.to_dict(),
            "reproducible": self.reproducible,
        }


@dataclass(frozen=True, slots=True)
class Lead:
    """Which row has the highest sampled reward, and its paired difference to the second best."""

    first: str
    second: str
    reward: Interval

    @property
    def decided(self) -> bool:
        """Whether the interval excludes 0."""
        return self.reward.low > 0

    def to_dict(self) -> dict[str, Any]:
        return {"first": self.first, "second": self.second, "reward": self.reward.to_dict(), "decided": self.decided}


@dataclass(frozen=True, slots=True)
class Bakeoff:
    """The table and the records that it was made of."""

    rows: list[BakeoffRow]
    lead: Lead | None
    records: list[RecordedCompletion]

    def to_dict(self) -> dict[str, Any]:
        return {"rows": [row.to_dict() for row in self.rows], "lead": self.lead and self.lead.to_dict()}


@dataclass(frozen=True, slots=True)
class _NoAnswer:
    """In the place of every answer to a prompt that leaves no room for one."""

    text: str = ""
    tokens: int = 0
    finish_reason: Literal["stop", "length"] | None = None


async def bakeoff(
    sitting: Sitting,
    entrants: Sequence[Entrant],
    *,
    book: Rulebook | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    keep: Callable[[list[RecordedCompletion]], None] | None = None,
) -> Bakeoff:
    """Ask every entrant, one after another; with a rulebook each a second time, with that before the prompts.

    `progress(row, done, total)` counts prompts; `keep` is given all records so far after each row, so that a later
    fault loses nothing. Answers are judged in this process. Raises UsageError for a name that stands twice, and as
    engines and `evaluate` do.
    """
    _named_once(entrants)
    records: list[RecordedCompletion] = []
    facts: dict[str, _Facts] = {}
    for entrant in entrants:
        for rules in (None, book) if book else (None,):
            name = f"{entrant.name}+rulebook" if rules else entrant.name
            facts[name], own = await _one(sitting, entrant, name, rules, progress)
            records += own
            if keep is not None:
                keep(records)
    return await asyncio.to_thread(_table, records, sitting.anchor, facts)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the records of a row do not say."""

    seconds: float
    usd: float | None
    reproducible: bool


async def _one(
    sitting: Sitting,
    entrant: Entrant,
    name: str,
    book: Rulebook | None,
    progress: Callable[[str, int, int], None] | None,
) -> tuple[_Facts, list[RecordedCompletion]]:
    started = time.monotonic()
    prompts = [sitting.env.prompt(episode) for episode in sitting.episodes]
    jobs = [(number, greedy) for greedy in (True, False) for number in range(len(prompts))]

    async def work(_: int, job: tuple[int, bool]) -> Asked:
        number, greedy = job
        prompt = with_rulebook(prompts[number], book) if book else prompts[number]
        return await ask(entrant.column, prompt, sitting.sampling(number, greedy))

    told = partial(progress, name) if progress else None
    asked = await each(jobs, work, at_once=sitting.at_once, progress=told)
    seconds = time.monotonic() - started
    answers: dict[bool, list[Sequence[Sample | _NoAnswer]]] = {True: [], False: []}
    for (_, greedy), one in zip(jobs, asked, strict=True):
        nothing = [_NoAnswer()] * (1 if greedy else sitting.samples)
        answers[greedy].append(one.made.samples[0] if one.made else nothing)
    recorded = await asyncio.to_thread(
        evaluate,
        sitting.env,
        sitting.episodes,
        name,
        lambda _prompts, _samples, greedy: answers[greedy],
        split=sitting.anchor,
        samples=sitting.samples,
        model=entrant.digest or entrant.column.served.name,
        batch=len(prompts),
    )
    reproducible = all(entrant.column.deterministic(sitting.sampling(0, greedy)) for greedy in (True, False))
    return _Facts(seconds, _usd(entrant, asked[: len(prompts)]), reproducible), recorded


def _usd(entrant: Entrant, greedy: Sequence[Asked]) -> float | None:
    """The mean cost of a greedy request, over those that were answered."""
    answered = [one for one in greedy if one.made is not None]
    usage = total([one.made.usage for one in answered if one.made is not None])
    cost = entrant.column.prices.cost(usage, sum(one.gpu_seconds for one in answered))
    return cost.usd / len(answered) if cost and answered else None


def _table(records: list[RecordedCompletion], anchor: str, facts: dict[str, _Facts]) -> Bakeoff:
    rungs = ladder(records)
    first = rungs[0].policy
    rows = []
    for rung in rungs:
        sampled = [one for one in records if one.policy == rung.policy and not one.greedy]
        read = [one for one in sampled if one.finish_reason is not None]
        own = facts[rung.policy]
        rows.append(
            BakeoffRow(
                rung=rung,
                tokens=_mean([float(one.completion_tokens or 0) for one in read]),
                truncated=_mean([float(one.finish_reason == "length") for one in read]),
                unreadable=len({one.episode_hash for one in sampled} - {one.episode_hash for one in read}),
                seconds=own.seconds,
                usd=own.usd,
                over_first=None if rung.policy == first else _difference(records, first, rung.policy, anchor),
                reproducible=own.reproducible,
            )
        )
    return Bakeoff(rows, _lead(records, rungs, anchor), records)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _difference(records: Sequence[RecordedCompletion], before: str, after: str, anchor: str) -> Interval:
    return lift(records, before, after, split=anchor).reward


def _lead(records: Sequence[RecordedCompletion], rungs: Sequence[LadderRow], anchor: str) -> Lead | None:
    if len(rungs) < 2:
        return None
    best, second, *_ = sorted(rungs, key=lambda rung: -rung.sampled.reward.estimate if rung.sampled else math.inf)
    return Lead(best.policy, second.policy, _difference(records, second.policy, best.policy, anchor))


def _named_once(entrants: Sequence[Entrant]) -> None:
    if not entrants:
        raise UsageError("bakeoff: no model is named")
    names = [entrant.name for entrant in entrants]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"bakeoff: {twice} is named twice")
