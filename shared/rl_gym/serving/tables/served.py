"""One episode through the served loop: over each of its samples alone, and over all of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from rl_gym.gym.core import Episode
from rl_gym.serving.backends import Completions
from rl_gym.serving.columns import Column
from rl_gym.serving.cost import total
from rl_gym.serving.judges import Judge, Standard
from rl_gym.serving.loop import Plan, answer, prompts_of
from rl_gym.serving.sampling import Sample
from rl_gym.serving.tables.asking import Asked, ask
from rl_gym.serving.tables.replay import AskedOnce, JudgedOnce, replaying
from rl_gym.wire import ColumnAnswer, Cost, Pass, Usage
from rl_gym.wire.generate import RepairOutcome

__all__ = ["EpisodeAnswers", "Run", "Stand", "answer_episode"]


@dataclass(frozen=True, slots=True)
class Stand:
    """What a run has come to: the reward of its answer, and what was spent on it.

    `usage` is None where the prompt could not be read, `usd` also where no price is known.
    """

    reward: float
    usage: Usage | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the loop, as it stood before its repair turn and after."""

    before: Stand
    after: Stand
    outcome: RepairOutcome


@dataclass(frozen=True, slots=True)
class EpisodeAnswers:
    """A run over each sample alone, in order, and the one over all of them."""

    single: list[Run]
    best: Run
    unreadable: bool = False


async def answer_episode(
    column: Column, judge: Judge, standard: Standard, episode: Episode, plan: Plan
) -> EpisodeAnswers:
    """`plan.n` samples, and a repair turn after each that is not perfect; a text that stands twice is repaired once.

    A sample's own part in what was spent is the whole prompt, its own tokens, and one of n parts of the GPU's time. A
    prompt that leaves no room is answered by an empty text. Raises as `answer` does.
    """
    engine, judging = AskedOnce(column), JudgedOnce(judge)
    prompt = prompts_of(standard.environment).prompt(episode)
    sampled = replace(plan, mode="best-of-n+repair")
    asked = await ask(column, prompt, sampled.first())
    if asked.made is None:
        return await _nothing(judging, standard, episode, plan.n)

    async def run(first: Asked, how: Plan) -> Run:
        served = await answer(replaying(engine, prompt, first), judging, standard, episode, how)
        return _run(column, served, first.gpu_seconds)

    alone = replace(plan, mode="pass@1+repair", n=1)
    parts = {sample.text: _part(asked.made, sample, asked.gpu_seconds, plan.n) for sample in asked.made.samples[0]}
    runs = await asyncio.gather(*[run(part, alone) for part in parts.values()])
    by_text = dict(zip(parts, runs, strict=True))
    best = await run(asked, sampled)
    return EpisodeAnswers([by_text[sample.text] for sample in asked.made.samples[0]], best)


def _part(made: Completions, sample: Sample, gpu_seconds: float, n: int) -> Asked:
    usage = made.usage.model_copy(update={"completion_tokens": sample.tokens})
    return Asked(Completions([[sample]], usage, made.model), gpu_seconds / n)


def _run(column: Column, served: ColumnAnswer, gpu_seconds: float) -> Run:
    first, chosen = served.passes[0], served.passes[served.chosen or 0]
    cost = column.prices.cost(first.usage, gpu_seconds)
    spent = total([one.usage for one in served.passes])
    return Run(
        before=_stand(first, first.usage, cost),
        after=_stand(chosen, spent, served.cost),
        outcome=served.repair,
    )


def _stand(answered: Pass, usage: Usage, cost: Cost | None) -> Stand:
    return Stand(answered.scorecard.breakdown.reward, usage, None if cost is None else cost.usd)


async def _nothing(judge: Judge, standard: Standard, episode: Episode, n: int) -> EpisodeAnswers:
    [card] = await judge.score(standard, episode, [""])
    stand = Stand(card.breakdown.reward)
    run = Run(stand, stand, "not_asked")
    return EpisodeAnswers([run] * n, run, unreadable=True)
