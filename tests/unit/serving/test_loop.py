"""The served loop, judged by the real rules: which pass is the answer, and what a fault leaves of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rl_gym.gym.core import Episode
from rl_gym.iac.tasks.parametric import make_episode, oracle
from rl_gym.infra.errors import BusyError, InfrastructureError, NotFoundError, UsageError
from rl_gym.serving.backends import Completions, OnText, PromptTooLongError
from rl_gym.serving.columns import Column, EnginePlace
from rl_gym.serving.cost import Prices
from rl_gym.serving.judges import Judge, LocalJudge, Standard
from rl_gym.serving.loop import Plan, answer, prompts_of
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.wire import ColumnAnswer, Fixed, Pass, Scorecard, ServedModel, Usage
from rl_gym.wire.generate import PassKind

EPISODE = next(e for e in map(make_episode, range(50)) if e.data["required"] == ["aws_s3_bucket"])
BARE = prompts_of("iac").random(EPISODE)
BEST = oracle(EPISODE, {rule.id for rule in Standard().make().ruleset.rules})
PROSE = "I would rather not."


class Canned:
    """An engine that says what it is told to, call by call, and remembers how it was asked."""

    engine = "canned"

    def __init__(self, *calls: Sequence[str] | Exception, finish: str = "stop") -> None:
        self._calls = list(calls)
        self._finish: Any = finish
        self.prompts: list[str] = []
        self.samplings: list[Sampling] = []

    def deterministic(self, sampling: Sampling) -> bool:
        return sampling.greedy

    async def models(self) -> list[str]:
        return ["m"]

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, *, model: str, on_text: OnText | None = None
    ) -> Completions:
        self.prompts += prompts
        self.samplings.append(sampling)
        said = self._calls.pop(0)
        if isinstance(said, Exception):
            raise said
        for number, text in enumerate(said):
            if on_text:
                on_text(0, number, text)
        usage = Usage(prompt_tokens=100, completion_tokens=50 * len(said), seconds=1)
        return Completions([[Sample(text, 50, self._finish) for text in said]], usage, model)

    async def close(self) -> None:
        return None


class Faulty(LocalJudge):
    """A judge that fails from its call number `after` on."""

    def __init__(self, after: int) -> None:
        self._left = after

    async def score(self, standard: Standard, episode: Episode, completions: Sequence[str]) -> list[Scorecard]:
        self._left -= 1
        if self._left < 0:
            raise InfrastructureError("the verifier does not answer")
        return await super().score(standard, episode, completions)


class Heard:
    """A listener that writes down what it hears."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def text(self, kind: PassKind, text: str) -> None:
        self.said.append((kind, text))

    def done(self, result: Pass) -> None:
        self.said.append(("pass", result.kind))


def ask(
    engine: Canned, judge: Judge | None = None, heard: Heard | None = None, prices: Prices | None = None, **plan: Any
) -> ColumnAnswer:
    served = ServedModel(engine="canned", name="m", base="m")
    column = Column("tuned", EnginePlace(engine), served, prices or Prices())
    return asyncio.run(answer(column, judge or LocalJudge(), Standard(), EPISODE, Plan(**plan), heard))


def kinds(said: ColumnAnswer) -> list[str]:
    return [one.kind for one in said.passes]


def rewards(said: ColumnAnswer) -> list[float]:
    return [one.scorecard.breakdown.reward for one in said.passes]


def test_a_perfect_first_pass_needs_no_repair() -> None:
    engine = Canned([BEST])
    said = ask(engine, fix=True)
    assert (kinds(said), rewards(said), said.chosen, said.repair) == (["first"], [1.0], 0, "not_needed")
    assert engine.prompts == [prompts_of("iac").prompt(EPISODE)]
    assert engine.samplings[0].greedy
    assert said.deterministic


def test_a_repair_is_asked_for_with_what_was_wrong_and_wins_where_it_is_better() -> None:
    engine = Canned([BARE], [BEST])
    said = ask(engine)
    assert (kinds(said), said.chosen, said.repair) == (["first", "repair"], 1, "improved")
    first, second = engine.prompts
    assert second.startswith(f"{first}{BARE}")
    assert "Fix: " in second
    assert said.rewards == rewards(said)[:1]


@pytest.mark.parametrize("worse", [PROSE, BARE])
def test_a_repair_that_is_no_better_leaves_the_first(worse: str) -> None:
    said = ask(Canned([BARE], [worse]))
    assert (said.chosen, said.repair) == (0, "kept_first")


def test_without_repair_there_is_one_pass() -> None:
    said = ask(Canned([BARE]), mode="pass@1")
    assert (kinds(said), said.repair) == (["first"], "not_asked")


def test_the_best_of_n_is_answered_and_every_reward_told() -> None:
    engine = Canned([PROSE, BEST, BARE])
    said = ask(engine, mode="best-of-n", n=3, seed=7)
    assert said.passes[0].completion == BEST
    assert [reward == 1.0 for reward in said.rewards] == [False, True, False]
    assert said.passes[0].usage.completion_tokens == 150
    assert (engine.samplings[0].n, engine.samplings[0].seed, engine.samplings[0].greedy) == (3, 7, False)
    assert not said.deterministic


def test_a_seed_makes_a_single_answer_a_sample() -> None:
    engine = Canned([BEST])
    ask(engine, seed=3)
    assert (engine.samplings[0].greedy, engine.samplings[0].seed) == (False, 3)


def test_a_truncated_pass_is_marked_and_repaired() -> None:
    said = ask(Canned([BEST[: len(BEST) // 2]], [BEST], finish="length"))
    assert said.passes[0].finish_reason == "length"
    assert (said.chosen, said.repair) == (1, "improved")


def test_findings_are_trimmed_until_the_repair_fits_and_the_configuration_never_is() -> None:
    engine = Canned([BARE], PromptTooLongError("too long"), PromptTooLongError("too long"), [BEST])
    said = ask(engine)
    assert said.repair == "improved"
    sizes = [len(prompt) for prompt in engine.prompts[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    assert all(BARE in prompt for prompt in engine.prompts[1:])


def test_a_repair_that_cannot_fit_is_none() -> None:
    said = ask(Canned([BARE], *[PromptTooLongError("too long")] * 20))
    assert (kinds(said), said.chosen, said.repair) == (["first"], 0, "does_not_fit")


def test_the_fixers_come_last_under_their_own_name() -> None:
    said = ask(Canned([BARE], [PROSE]), fix=True)
    assert kinds(said) == ["first", "repair", "fix"]
    assert said.chosen == 2
    assert said.passes[2].finish_reason is None
    assert rewards(said)[2] > rewards(said)[0]


@pytest.mark.parametrize("fault", [InfrastructureError("gone"), UsageError("an over-long prompt")])
def test_without_a_first_pass_there_is_no_answer(fault: Exception) -> None:
    with pytest.raises(type(fault), match=str(fault)):
        ask(Canned(fault))


def test_what_was_not_judged_is_not_answered() -> None:
    with pytest.raises(InfrastructureError, match="does not answer"):
        ask(Canned([BEST]), Faulty(after=0))


@pytest.mark.parametrize(
    "asked",
    [
        lambda: ask(Canned([BARE], [BEST]), Faulty(after=1)),
        lambda: ask(Canned([BARE], InfrastructureError("x"))),
        lambda: ask(Canned([BARE], BusyError("full"))),
        lambda: ask(Canned([BARE], UsageError("refused"))),
    ],
)
def test_whatever_becomes_of_the_repair_the_judged_first_pass_is_answered(asked: Callable[[], ColumnAnswer]) -> None:
    said = asked()
    assert (kinds(said), said.chosen, said.repair) == (["first"], 0, "failed")


class NoFixers(LocalJudge):
    async def fix(self, standard: Standard, episode: Episode, completion: str) -> Fixed | None:
        raise NotFoundError("no such route")


def test_fixers_that_fail_leave_what_was_judged() -> None:
    said = ask(Canned([BARE]), NoFixers(), mode="pass@1", fix=True)
    assert (kinds(said), said.chosen) == (["first"], 0)


def test_time_runs_out() -> None:
    class Slow(Canned):
        async def complete(self, *prompts: Any, **how: Any) -> Completions:
            if self._calls == [[BEST]]:
                await asyncio.Event().wait()
            return await super().complete(*prompts, **how)

    with pytest.raises(InfrastructureError, match="no judged answer within"):
        ask(Slow([BEST]), seconds=0.05)
    assert ask(Slow([BARE], [BEST]), seconds=1).repair == "failed"


def test_a_listener_hears_text_and_passes_in_order() -> None:
    heard = Heard()
    ask(Canned([BARE], [BEST]), heard=heard)
    assert heard.said == [("first", BARE), ("pass", "first"), ("repair", BEST), ("pass", "repair")]
    heard = Heard()
    ask(Canned([BARE, BEST]), heard=heard, mode="best-of-n", n=2)
    assert heard.said == [("pass", "first")]


def test_all_passes_are_paid() -> None:
    said = ask(Canned([BARE], [PROSE]), prices=Prices(prompt_million_usd=1, completion_million_usd=10))
    assert said.cost is not None
    assert said.cost.usd == pytest.approx((200 * 1 + 100 * 10) / 1e6)
    assert ask(Canned([BEST])).cost is None


def test_a_repair_that_nobody_judged_is_paid_too() -> None:
    prices = Prices(prompt_million_usd=1, completion_million_usd=10)
    said = ask(Canned([BARE], [BEST]), Faulty(after=1), prices=prices)
    assert kinds(said) == ["first"]
    assert said.cost is not None
    assert said.cost.usd == pytest.approx((200 * 1 + 100 * 10) / 1e6)
