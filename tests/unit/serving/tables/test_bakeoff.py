"""The bake-off over engines whose answers are known: figures, differences, and what was not answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.ladder import ladder
from rl_gym.iac.environment import IacEnvironment
from rl_gym.iac.rulebook import rulebook
from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.serving.backends import PromptTooLongError
from rl_gym.serving.cost import Prices
from rl_gym.serving.sampling import Sampling
from rl_gym.serving.tables.asking import Entrant
from rl_gym.serving.tables.bakeoff import Sitting, bakeoff

Build = Callable[..., Entrant]


@pytest.fixture
def sitting(env: IacEnvironment, episodes: Sequence[Episode]) -> Sitting:
    return Sitting(env, "synthetic", episodes, samples=2)


@pytest.fixture
def strong(env: IacEnvironment, episodes: Sequence[Episode]) -> Callable[[str, int, Sampling], str]:
    answers = {env.prompt(episode): env.oracle(episode) for episode in episodes}
    return lambda prompt, number, sampling: answers[prompt]


@pytest.fixture
def weak(env: IacEnvironment, episodes: Sequence[Episode]) -> Callable[[str, int, Sampling], str]:
    """Greedily the bare answer, sampled it and prose by turns."""
    answers = {env.prompt(episode): env.random(episode) for episode in episodes}
    return lambda prompt, number, sampling: answers[prompt] if number == 0 else "I would rather not."


def test_rows_tell_what_each_model_did_and_who_leads(
    sitting: Sitting, entrant: Build, told: Any, strong: Any, weak: Any
) -> None:
    engines = [entrant("weak", told(weak)), entrant("strong", told(strong))]
    done = asyncio.run(bakeoff(sitting, engines))
    first, second = done.rows
    assert [(row.rung.policy, row.rung.episodes, row.unreadable) for row in done.rows] == [
        ("weak", 6, 0),
        ("strong", 6, 0),
    ]
    assert first.rung.sampled is not None
    assert first.rung.greedy is not None
    assert second.rung.sampled is not None
    assert (first.rung.sampled.n, first.rung.greedy.n) == (12, 6)
    assert second.rung.sampled.reward.estimate == 1.0
    assert first.rung.sampled.valid_rate.estimate == 0.5
    assert first.rung.sampled.reward.estimate == pytest.approx(first.rung.greedy.reward.estimate / 2)
    assert first.over_first is None
    assert second.over_first is not None
    assert second.over_first.estimate == pytest.approx(1 - first.rung.sampled.reward.estimate)
    assert done.lead is not None
    assert (done.lead.first, done.lead.second, done.lead.decided) == ("strong", "weak", True)
    assert done.lead.reward == second.over_first


def test_equals_are_not_told_apart(sitting: Sitting, entrant: Build, told: Any, strong: Any) -> None:
    done = asyncio.run(bakeoff(sitting, [entrant("a", told(strong)), entrant("b", told(strong))]))
    assert done.lead is not None
    assert not done.lead.decided
    assert done.lead.reward.estimate == 0


def test_one_model_alone_leads_nobody(sitting: Sitting, entrant: Build, told: Any, strong: Any) -> None:
    assert asyncio.run(bakeoff(sitting, [entrant("a", told(strong))])).lead is None


def test_a_prompt_that_does_not_fit_is_answered_by_nothing_and_told(
    sitting: Sitting, entrant: Build, told: Any, strong: Any, env: IacEnvironment
) -> None:
    long = env.prompt(sitting.episodes[0])

    def say(prompt: str, number: int, sampling: Sampling) -> Any:
        return (
            PromptTooLongError("2,000 tokens of at most 1,000") if prompt == long else strong(prompt, number, sampling)
        )

    [row] = asyncio.run(bakeoff(sitting, [entrant("short", told(say))])).rows
    assert row.unreadable == 1
    assert row.truncated == 0
    assert row.rung.sampled is not None
    assert row.rung.sampled.reward.estimate == pytest.approx(5 / 6)
    assert row.tokens > 10


def test_a_request_costs_its_prompt_and_one_greedy_answer(
    sitting: Sitting, entrant: Build, told: Any, strong: Any, env: IacEnvironment
) -> None:
    prices = Prices(prompt_million_usd=2.0, completion_million_usd=10.0)
    [row] = asyncio.run(bakeoff(sitting, [entrant("a", told(strong), prices)])).rows
    tokens = [len(env.oracle(episode)) // 10 for episode in sitting.episodes]
    assert row.usd == pytest.approx((100 * 2 + 10 * sum(tokens) / len(tokens)) / 1e6)
    assert row.tokens == pytest.approx(sum(tokens) / len(tokens))


def test_no_price_no_cost(sitting: Sitting, entrant: Build, told: Any, strong: Any) -> None:
    [row] = asyncio.run(bakeoff(sitting, [entrant("a", told(strong))])).rows
    assert row.usd is None
    assert row.to_dict()["usd_per_request"] is None


def test_with_a_rulebook_each_model_is_asked_again(
    sitting: Sitting, entrant: Build, told: Any, weak: Any, strong: Any, env: IacEnvironment
) -> None:
    book = rulebook(env.ruleset)

    def say(prompt: str, number: int, sampling: Sampling) -> str:
        bare = prompt.removeprefix(f"{book.text}\n")
        return str((weak if bare == prompt else strong)(bare, number, sampling))

    done = asyncio.run(bakeoff(sitting, [entrant("a", told(say))], book=book))
    assert [row.rung.policy for row in done.rows] == ["a", "a+rulebook"]
    assert done.lead is not None
    assert done.lead.first == "a+rulebook"


def test_every_episode_is_sampled_with_a_seed_of_its_own(
    sitting: Sitting, entrant: Build, told: Any, strong: Any
) -> None:
    engine = told(strong)
    asyncio.run(bakeoff(replace(sitting, seed=7), [entrant("a", engine)]))
    seeds = {prompt: sampling.seed for prompt, sampling in engine.asked if not sampling.greedy}
    assert sorted(seeds.values()) == [7, 8, 9, 10, 11, 12]


def test_records_are_kept_row_by_row_and_say_the_same_again(
    sitting: Sitting, entrant: Build, told: Any, strong: Any, weak: Any, tmp_path: Path
) -> None:
    path = tmp_path / "completions.jsonl"
    broken = told(lambda *_: InfrastructureError("the engine is gone"))
    engines = [entrant("weak", told(weak)), entrant("strong", told(strong)), entrant("broken", broken)]
    with pytest.raises(InfrastructureError, match="the engine is gone"):
        asyncio.run(bakeoff(sitting, engines, keep=lambda found: records.write(path, found)))
    kept = ladder(records.read(path))
    whole = asyncio.run(bakeoff(sitting, engines[:2]))
    assert [rung.to_dict() for rung in kept] == [row.rung.to_dict() for row in whole.rows]


def test_progress_counts_prompts(sitting: Sitting, entrant: Build, told: Any, strong: Any) -> None:
    heard: list[tuple[str, int, int]] = []
    asyncio.run(bakeoff(sitting, [entrant("a", told(strong))], progress=lambda *args: heard.append(args)))
    assert heard[-1] == ("a", 12, 12)
    assert [done for _, done, _ in heard] == list(range(1, 13))


@pytest.mark.parametrize(
    ("names", "complaint"), [([], "bakeoff: no model is named"), (["a", "b", "a"], "bakeoff: a is named twice")]
)
def test_names_stand_once(
    names: list[str], complaint: str, sitting: Sitting, entrant: Build, told: Any, strong: Any
) -> None:
    with pytest.raises(UsageError, match=complaint):
        asyncio.run(bakeoff(sitting, [entrant(name, told(strong)) for name in names]))


def test_an_anchor_without_episodes_is_refused(env: IacEnvironment) -> None:
    with pytest.raises(UsageError, match="dev has no episodes"):
        Sitting(env, "dev", [])
