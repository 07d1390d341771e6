"""What is learnt from a model's own answers: the best of each prompt, or how to mend what failed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from rl_gym.gym.core import Episode, score_completion
from rl_gym.gym.registry import get_env
from rl_gym.iac.tasks.parametric import nano_episode
from rl_gym.infra.errors import UsageError
from rl_gym.serving.repair_turns import repair_prompts
from rl_gym.training.continual import RaftSection, RepairSection
from rl_gym.training.rehearsal import rehearse
from rl_gym.training.selection import RolledOut, best_answers, own_answers, repair_rows

TRAINED: dict[str, Any] = {"steps": 1, "batch_size": 1, "learning_rate": 1e-3}
ENV: Any = get_env("iac", ruleset="seed18", profile="default@1")
EPISODES = [nano_episode(seed) for seed in range(4)]


def sample(episode: Episode, completion: str, reward: float | None, finish: str = "stop") -> RolledOut:
    return RolledOut(
        prompt=ENV.prompt(episode),
        episode=json.dumps(episode.to_dict()),
        completion=completion,
        tokens=len(completion),
        finish_reason=finish,
        reward=reward,
    )


def count(text: str) -> int:
    return len(text) // 4


def best(samples: Sequence[RolledOut], **keys: Any) -> tuple[list[str], list[float]]:
    found = best_answers(samples, RaftSection(**TRAINED, **keys))
    return [row["completion"] for row in found.rows], list(found.rates.values())


def test_the_best_of_each_prompt_is_kept_above_the_threshold_alone() -> None:
    first, second, _, _ = EPISODES
    samples = [
        sample(first, "good", 0.9),
        sample(first, "better", 1.0),
        sample(first, "as good", 1.0),
        sample(second, "poor", 0.4),
        sample(second, "fair", 0.6),
    ]
    assert best(samples, threshold=0.5) == (["better", "fair"], [1.0, 0.5])
    assert best(samples, threshold=1.0) == (["better"], [2 / 3, 0.0])


def test_what_was_cut_off_is_not_kept_and_what_was_not_judged_does_not_count() -> None:
    first, second, _, _ = EPISODES
    samples = [
        sample(first, "cut", 1.0, "length"),
        sample(first, "whole", 0.8),
        sample(second, "lost", None),
    ]
    assert best(samples, threshold=0.8) == (["whole"], [1.0])


def test_rates_are_by_the_content_hash_of_the_episode() -> None:
    found = best_answers([sample(EPISODES[0], "a", 1.0)], RaftSection(**TRAINED))
    assert found.rates == {EPISODES[0].hash: 1.0}


def test_nothing_kept_is_refused_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"^raft: none of 1 answers to 1 prompts .* at least 1: lower raft\.threshold"):
        best([sample(EPISODES[0], "a", 0.5)])


def test_a_failure_becomes_the_prompt_of_serving_with_the_oracles_answer() -> None:
    first, second, _, _ = EPISODES
    floor = ENV.random(first)
    samples = [
        sample(first, floor, score_completion(ENV, floor, first).reward),
        sample(second, ENV.oracle(second), 1.0),
    ]
    found = repair_rows(ENV, samples, RepairSection(**TRAINED), count)
    [row] = found.rows
    action = ENV.parse(floor, first)
    assert row["prompt"] == next(repair_prompts(ENV, first, action.text, ENV.problems(action, first)))
    assert row["prompt"].startswith(ENV.prompt(first) + action.text.rstrip())
    assert row["completion"] == ENV.oracle(first)
    assert found.counts() == {
        "samples": 2,
        "failed": 1,
        "repeated": 0,
        "without_reference": 0,
        "too_long": 0,
        "kept": 1,
    }


def test_what_cannot_be_read_is_mended_too_and_the_same_answer_once() -> None:
    samples = [sample(EPISODES[0], "no terraform", 0.0), sample(EPISODES[0], "nothing at all", 0.0)]
    found = repair_rows(ENV, samples, RepairSection(**TRAINED), count)
    assert (len(found.rows), found.failed, found.repeated) == (1, 2, 1)
    assert "(none)" in found.rows[0]["prompt"]


def test_a_bound_first_costs_problems_and_then_the_row() -> None:
    floor = ENV.random(EPISODES[0])
    samples = [sample(EPISODES[0], floor, 0.3)]
    whole = repair_rows(ENV, samples, RepairSection(**TRAINED), count).rows[0]["prompt"]
    section = RepairSection(**TRAINED, max_prompt_tokens=count(whole) - 1)
    shorter = repair_rows(ENV, samples, section, count).rows[0]["prompt"]
    assert count(shorter) < count(whole)
    with pytest.raises(UsageError, match=r"^repair: none of 1 answers .*1 too long\): raise repair\.max_prompt_tokens"):
        repair_rows(ENV, samples, RepairSection(**TRAINED, max_prompt_tokens=8), count)


def test_a_fixers_work_is_never_the_answer_to_learn() -> None:
    data = {**EPISODES[0].data, "training_only": True}
    samples = [
        sample(Episode("mined-1", EPISODES[0].request, "mined", data), "no terraform", 0.0),
        sample(EPISODES[1], "no terraform", 0.0),
    ]
    found = repair_rows(ENV, samples, RepairSection(**TRAINED), count)
    assert (found.without_reference, [row["episode_id"] for row in found.rows]) == (1, [EPISODES[1].id])


def test_rehearsed_rows_are_the_asked_share_of_the_mix_and_the_same_for_a_seed() -> None:
    rows, plain = [{"n": number} for number in range(60)], [{"p": number} for number in range(100)]
    mixed = rehearse(rows, plain, 0.25, Random(0))
    assert (len(mixed), sum("p" in row for row in mixed)) == (80, 20)
    assert all(row in mixed for row in rows)
    assert mixed == rehearse(rows, plain, 0.25, Random(0))
    assert mixed != rehearse(rows, plain, 0.25, Random(1))
    assert len(rehearse(rows, plain, 0.0, Random(0))) == 60
    assert len(rehearse(rows, plain[:5], 0.5, Random(0))) == 65


def test_where_too_few_rehearse_the_rest_comes_from_elsewhere() -> None:
    rows, own = [{"n": number} for number in range(60)], [{"o": number} for number in range(5)]
    others = [{"d": number} for number in range(100)]
    mixed = rehearse(rows, own, 0.5, Random(0), otherwise=others)
    assert (len(mixed), sum("o" in row for row in mixed), sum("d" in row for row in mixed)) == (120, 5, 55)
    assert {"d": -1} not in rehearse(rows, others, 0.5, Random(0), otherwise=[{"d": -1}] * 9)
    assert len(rehearse(rows, own, 0.5, Random(0), otherwise=others[:3])) == 68


def test_own_answers_are_whole_perfect_and_there_once() -> None:
    first, second, third, fourth = EPISODES
    samples = [
        sample(first, "good", 1.0),
        sample(first, "good", 1.0),
        sample(first, "as good", 1.0),
        sample(second, "good", 1.0),
        sample(second, "nearly", 0.99),
        sample(third, "cut", 1.0, "length"),
        sample(fourth, "lost", None),
    ]
    assert own_answers(samples) == [
        {"prompt": ENV.prompt(episode), "completion": text, "episode_id": episode.id}
        for episode, text in ((first, "good"), (first, "as good"), (second, "good"))
    ]
