"""The serving table over engines whose answers are known: each cell, what repair did, and what a request cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rl_gym.gym.core import Episode
from rl_gym.iac.environment import IacEnvironment
from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.serving.backends import PromptTooLongError
from rl_gym.serving.cost import Prices
from rl_gym.serving.judges import LocalJudge, Standard
from rl_gym.serving.loop import Plan, answer
from rl_gym.serving.sampling import Sampling
from rl_gym.serving.tables.asking import Entrant
from rl_gym.serving.tables.serve_table import Cell, ServeTable, serve_table

Build = Callable[..., Entrant]
PROSE = "I would rather not."


@pytest.fixture
def half(env: IacEnvironment, episodes: Sequence[Episode]) -> Callable[[str, int, Sampling], str]:
    """Samples prose and the bare answer by turns; mends the bare answer of every second episode."""
    bare = {env.prompt(episode): env.random(episode) for episode in episodes}
    mended = {episode.request: env.oracle(episode) for episode in episodes[::2]}

    def say(prompt: str, number: int, sampling: Sampling) -> str:
        if prompt in bare:
            return bare[prompt] if number % 2 else PROSE
        if "there is no Terraform in the answer" in prompt:
            return PROSE
        return next((text for request, text in mended.items() if f"Request: {request}\n" in prompt), PROSE)

    return say


def table(entrant: Entrant, episodes: Sequence[Episode], n: int = 4, **plan: Any) -> ServeTable:
    return asyncio.run(serve_table(entrant, LocalJudge(), Standard(), episodes, Plan(n=n, **plan)))


def cell(found: ServeTable, mode: str) -> Cell:
    return next(one for one in found.cells if one.mode == mode)


def test_four_cells_of_one_set_of_samples(
    episodes: Sequence[Episode], env: IacEnvironment, entrant: Build, told: Any, half: Any
) -> None:
    engine = told(half)
    found = table(entrant("m", engine), episodes)
    bare = [env.reward.score(env.parse(env.random(e), e), e).reward for e in episodes]
    after = [1.0 if number % 2 == 0 else reward for number, reward in enumerate(bare)]
    expected = {
        "pass@1": sum(bare) / 2 / 6,
        "pass@1+repair": sum(after) / 2 / 6,
        "best-of-n": sum(bare) / 6,
        "best-of-n+repair": sum(after) / 6,
    }
    assert {one.mode: one.reward.estimate for one in found.cells} == pytest.approx(expected)
    assert {one.mode: one.n for one in found.cells} == dict(zip(expected, (24, 24, 6, 6), strict=True))
    assert {one.mode: one.full.estimate for one in found.cells} == pytest.approx(
        {"pass@1": 0, "pass@1+repair": 0.25, "best-of-n": 0, "best-of-n+repair": 0.5}
    )
    assert found.gap.estimate == pytest.approx(expected["best-of-n"] - expected["pass@1"])
    assert found.gap_with_repair.estimate == pytest.approx(expected["best-of-n+repair"] - expected["pass@1+repair"])
    drawn = [prompt for prompt, sampling in engine.asked if not sampling.greedy]
    assert len(drawn) == len(set(drawn)) == 6


def test_repairs_are_attempts_conversions_and_improvements(
    episodes: Sequence[Episode], entrant: Build, told: Any, half: Any
) -> None:
    engine = told(half)
    single, best = table(entrant("m", engine), episodes).repairs
    assert (single.mode, single.due, single.attempts) == ("pass@1+repair", 24, 24)
    assert (single.conversions, single.improved) == (6, 6)
    assert (best.mode, best.due, best.attempts, best.conversions, best.improved) == ("best-of-n+repair", 6, 6, 3, 3)
    assert best.gain.estimate > single.gain.estimate > 0
    turns = [prompt for prompt, sampling in engine.asked if sampling.greedy]
    assert len(turns) == len(set(turns)) == 12


def test_each_cell_is_what_the_served_loop_answers(
    episodes: Sequence[Episode], entrant: Build, told: Any, half: Any
) -> None:
    one = entrant("m", told(half), Prices(prompt_million_usd=1, completion_million_usd=5))
    plan = Plan(mode="best-of-n+repair", n=4, seed=0)
    served = asyncio.run(answer(one.column, LocalJudge(), Standard(), episodes[0], plan))
    assert served.chosen is not None
    assert served.cost is not None
    found = cell(table(one, episodes[:1]), "best-of-n+repair")
    assert found.reward.estimate == served.passes[served.chosen].scorecard.breakdown.reward
    assert found.usd == pytest.approx(served.cost.usd)


def test_a_request_costs_all_of_its_turns(
    episodes: Sequence[Episode], env: IacEnvironment, entrant: Build, told: Any
) -> None:
    bare = env.random(episodes[0])
    engine = told(lambda prompt, number, sampling: PROSE if "Problems:" in prompt else bare)
    found = table(entrant("m", engine, Prices(prompt_million_usd=1, completion_million_usd=5)), episodes[:1])
    first, second = len(bare) // 10, len(PROSE) // 10
    assert {one.mode: (one.prompt_tokens, one.completion_tokens) for one in found.cells} == {
        "pass@1": (100, first),
        "pass@1+repair": (200, first + second),
        "best-of-n": (100, 4 * first),
        "best-of-n+repair": (200, 4 * first + second),
    }
    for one in found.cells:
        assert one.usd == pytest.approx((one.prompt_tokens + 5 * one.completion_tokens) / 1e6)


def test_seconds_of_a_gpu_are_those_of_when_it_was_asked(
    episodes: Sequence[Episode], entrant: Build, told: Any, half: Any
) -> None:
    found = table(entrant("m", told(half), Prices(gpu_hour_usd=3600.0)), episodes)
    alone, mended, best, both = (one.usd or 0.0 for one in found.cells)
    assert 0 < alone < mended
    assert 0 < best < both
    assert best == pytest.approx(4 * alone)


def test_what_is_perfect_is_not_repaired(
    episodes: Sequence[Episode], env: IacEnvironment, entrant: Build, told: Any
) -> None:
    answers = {env.prompt(episode): env.oracle(episode) for episode in episodes}
    found = table(entrant("m", told(lambda prompt, number, sampling: answers[prompt])), episodes, n=2)
    assert [(one.due, one.attempts, one.conversions) for one in found.repairs] == [(0, 0, 0), (0, 0, 0)]
    assert {one.reward.estimate for one in found.cells} == {1.0}
    assert found.gap.estimate == found.gap_with_repair.estimate == 0


def test_a_repair_that_does_not_fit_is_no_attempt(
    episodes: Sequence[Episode], entrant: Build, told: Any, half: Any
) -> None:
    def say(prompt: str, number: int, sampling: Sampling) -> Any:
        return PromptTooLongError("too long") if "Problems:" in prompt else half(prompt, number, sampling)

    for one in table(entrant("m", told(say)), episodes).repairs:
        assert (one.attempts, one.conversions, one.does_not_fit) == (0, 0, one.due)


def test_a_prompt_that_does_not_fit_is_an_empty_answer_and_told(
    episodes: Sequence[Episode], entrant: Build, told: Any, half: Any
) -> None:
    first = f"Request: {episodes[0].request}\n"

    def say(prompt: str, number: int, sampling: Sampling) -> Any:
        return PromptTooLongError("too long") if first in prompt else half(prompt, number, sampling)

    found = table(entrant("m", told(say)), episodes)
    assert found.unreadable == 1
    assert cell(found, "pass@1").n == 24
    assert cell(found, "best-of-n").prompt_tokens == 100
    assert found.repairs[1].due == 5


def test_repairs_lost_to_faults_of_ours_are_no_figures(
    episodes: Sequence[Episode], entrant: Build, told: Any, half: Any
) -> None:
    def say(prompt: str, number: int, sampling: Sampling) -> Any:
        return InfrastructureError("gone") if "Problems:" in prompt else half(prompt, number, sampling)

    with pytest.raises(InfrastructureError, match=r"pass@1\+repair: 24 of 24 repair turns met a fault of ours"):
        table(entrant("m", told(say)), episodes)


def test_a_fault_in_a_first_pass_ends_the_table(episodes: Sequence[Episode], entrant: Build, told: Any) -> None:
    with pytest.raises(InfrastructureError, match="gone"):
        table(entrant("m", told(lambda *_: InfrastructureError("gone"))), episodes)


@pytest.mark.parametrize(("many", "n", "complaint"), [(0, 2, "no episodes"), (1, 1, "at least 2 samples, not 1")])
def test_what_makes_no_table(
    many: int, n: int, complaint: str, episodes: Sequence[Episode], entrant: Build, told: Any, half: Any
) -> None:
    with pytest.raises(UsageError, match=complaint):
        table(entrant("m", told(half)), episodes[:many], n=n)
