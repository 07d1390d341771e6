"""The served loop: prompt, samples, judgement, one repair turn with the findings, and the best pass.

It is the same for every engine and every judge; services, tables and benchmarks run this one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from rl_gym.gym.core import Environment, Episode
from rl_gym.gym.registry import resolve
from rl_gym.infra.errors import InfrastructureError, RlGymError
from rl_gym.serving.backends import Completions, PromptTooLongError
from rl_gym.serving.columns import Column
from rl_gym.serving.cost import total
from rl_gym.serving.judges import Judge, Standard
from rl_gym.serving.repair_turns import FULL_REWARD, repair_due, repair_prompts, repair_tokens
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.wire import ColumnAnswer, Pass, Scorecard, Usage
from rl_gym.wire.generate import Mode, PassKind, RepairOutcome

__all__ = ["FULL_REWARD", "Listener", "Plan", "answer", "best", "prompts_of"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to go about an answer; `seconds` bounds all of it, and `seed` None takes the likeliest tokens."""

    mode: Mode = "pass@1+repair"
    n: int = 1
    fix: bool = False
    seed: int | None = None
    max_tokens: int = 512
    temperature: float = 0.8
    top_p: float = 1.0
    seconds: float = 120.0

    def first(self) -> Sampling:
        """How the first pass samples."""
        if self.n == 1 and self.seed is None:
            return Sampling(greedy=True, max_tokens=self.max_tokens)
        return Sampling(self.n, self.temperature, self.top_p, self.max_tokens, self.seed or 0)

    def repair(self, first_tokens: int) -> Sampling:
        """How a repair turn samples: the likeliest tokens, since the findings say what to do."""
        return Sampling(greedy=True, max_tokens=repair_tokens(first_tokens, self.max_tokens))


class Listener(Protocol):
    """Hears of an answer while it comes about."""

    def text(self, kind: PassKind, text: str) -> None:
        """Text that nothing has judged yet; told of passes of one sample alone."""
        ...

    def done(self, result: Pass) -> None: ...


@cache
def prompts_of(environment: str) -> Environment:
    """The environment that writes the prompts: the same as in training, whatever judges. Raises as `resolve` does."""
    return resolve(environment)


async def answer(
    column: Column,
    judge: Judge,
    standard: Standard,
    episode: Episode,
    plan: Plan,
    listener: Listener | None = None,
) -> ColumnAnswer:
    """One column's answer to an episode.

    Raises of the family of RlGymError where there is none: UsageError for a prompt that does not fit or a name that
    there is not, BusyError, InfrastructureError for a fault of engine or judge, and where time is out. What was not
    judged is not answered. Once a pass is judged it is the answer, whatever becomes of its repair.
    """
    answering = _Answering(column, judge, standard, episode, plan, listener)
    end = time.monotonic() + plan.seconds
    try:
        async with asyncio.timeout(plan.seconds):
            await answering.first()
    except TimeoutError:
        raise InfrastructureError(f"{column.name}: no judged answer within {plan.seconds:.3g} s") from None
    if plan.mode.endswith("+repair"):
        await answering.repair(end - time.monotonic())
    if plan.fix:
        await answering.fix(end - time.monotonic())
    return ColumnAnswer(
        column=column.name,
        model=column.served,
        passes=answering.passes,
        chosen=best([one.scorecard for one in answering.passes]),
        rewards=answering.rewards,
        repair=answering.outcome,
        deterministic=column.deterministic(plan.first()),
        cost=column.prices.cost(total(answering.usages), answering.gpu_seconds),
    )


def best(cards: Sequence[Scorecard]) -> int:
    """Which scorecard is best: reward first, then the component `security`; a tie keeps the earlier one."""
    return max(range(len(cards)), key=lambda number: (*_merit(cards[number]), -number))


def _merit(card: Scorecard) -> tuple[float, float]:
    security = card.breakdown.components.get("security")
    return card.breakdown.reward, -1.0 if security is None else security


class _Answering:
    """One answer on its way, and what it has come to so far."""

    def __init__(
        self,
        column: Column,
        judge: Judge,
        standard: Standard,
        episode: Episode,
        plan: Plan,
        listener: Listener | None,
    ) -> None:
        self._column, self._judge, self._standard = column, judge, standard
        self._episode, self._plan = episode, plan
        self._listener = listener
        self._env: Any = prompts_of(standard.environment)
        self.passes: list[Pass] = []
        self.rewards: list[float] = []
        self.usages: list[Usage] = []
        """Of all that the engine wrote: a repair is paid for, judged or not."""
        self.gpu_seconds = 0.0
        self.outcome: RepairOutcome = "not_asked"
        self._first_tokens = 0

    async def first(self) -> None:
        """The first pass: the best of its samples."""
        sampling = self._plan.first()
        made = await self._complete("first", self._env.prompt(self._episode), sampling)
        samples = made.samples[0]
        cards = await self._judge.score(self._standard, self._episode, [sample.text for sample in samples])
        self.rewards = [card.breakdown.reward for card in cards]
        chosen = best(cards)
        self._first_tokens = samples[chosen].tokens
        self._keep("first", samples[chosen], cards[chosen], made)

    async def repair(self, seconds: float) -> None:
        """A second pass over the problems of the first, where it has some; where it fails the first is the answer."""
        first = self.passes[0].scorecard
        if not repair_due(self._env, first.breakdown.reward, first.problems):
            self.outcome = "not_needed"
            return
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                self.outcome = await self._repaired(first)
        except (RlGymError, TimeoutError):
            self.outcome = "failed"

    async def _repaired(self, first: Scorecard) -> RepairOutcome:
        made = await self._mended(first)
        if made is None:
            return "does_not_fit"
        sample = made.samples[0][0]
        [card] = await self._judge.score(self._standard, self._episode, [sample.text])
        self._keep("repair", sample, card, made)
        return "improved" if best([first, card]) == 1 else "kept_first"

    async def _mended(self, first: Scorecard) -> Completions | None:
        """The repair turn's completion, with as many of the findings as fit in the context; None where none do."""
        for prompt in repair_prompts(self._env, self._episode, first.breakdown.action, first.problems):
            with suppress(PromptTooLongError):
                return await self._complete("repair", prompt, self._plan.repair(self._first_tokens))
        return None

    async def fix(self, seconds: float) -> None:
        """A last pass by the fixers over the best so far, where it is not perfect; a fault leaves that as it is."""
        chosen = self.passes[best([one.scorecard for one in self.passes])]
        if chosen.scorecard.breakdown.reward >= FULL_REWARD:
            return
        started = time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                fixed = await self._judge.fix(self._standard, self._episode, chosen.completion)
        except (RlGymError, TimeoutError):
            return
        if fixed is not None:
            usage = Usage(prompt_tokens=0, completion_tokens=0, seconds=time.monotonic() - started)
            self._tell(Pass(kind="fix", completion=fixed.completion, scorecard=fixed.scorecard, usage=usage))

    async def _complete(self, kind: PassKind, prompt: str, sampling: Sampling) -> Completions:
        listener = self._listener

        def told(_prompt: int, _sample: int, text: str) -> None:
            assert listener is not None
            listener.text(kind, text)

        # An engine streams where somebody listens, and only there: whole answers are cheaper.
        made, seconds = await self._column.complete([prompt], sampling, told if listener and sampling.n == 1 else None)
        self.usages.append(made.usage)
        self.gpu_seconds += seconds
        return made

    def _keep(self, kind: PassKind, sample: Sample, card: Scorecard, made: Completions) -> None:
        self._tell(
            Pass(
                kind=kind,
                completion=sample.text,
                finish_reason=sample.finish_reason,
                scorecard=card,
                usage=made.usage,
            )
        )

    def _tell(self, result: Pass) -> None:
        self.passes.append(result)
        if self._listener is not None:
            self._listener.done(result)
