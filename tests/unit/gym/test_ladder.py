from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from rl_gym.gym.ladder import ladder, lift, lifts
from rl_gym.gym.records import RecordedCompletion
from rl_gym.infra.errors import UsageError

Records = Callable[..., list[RecordedCompletion]]
Maker = Callable[..., RecordedCompletion]

LOW = [[0.0, 0.2], [0.2, 0.4], [0.0, 0.0], [0.4, 0.4]]
HIGH = [[0.5, 0.7], [0.7, 0.9], [0.5, 0.5], [0.9, 0.9]]


def test_a_row_tells_reward_gates_and_validity_sampled_and_greedy(policy_records: Records) -> None:
    records = policy_records("base", LOW) + policy_records("base", [[1.0]] * 4, greedy=True)
    [row] = ladder(records)
    assert (row.policy, row.split, row.episodes, row.missing) == ("base", "anchor", 4, 0)
    assert row.sampled is not None
    assert row.greedy is not None
    assert (row.sampled.n, row.greedy.n) == (8, 4)
    assert row.sampled.reward.estimate == pytest.approx(0.2)
    assert row.sampled.gate_rate.estimate == pytest.approx(5 / 8)
    assert row.sampled.reward.n == 4
    assert row.sampled.reward.low < 0.2 < row.sampled.reward.high
    assert row.greedy.reward.estimate == row.greedy.valid_rate.estimate == 1.0
    json.dumps(row.to_dict(), allow_nan=False)


def test_rows_and_lifts_follow_the_order_of_the_records(policy_records: Records) -> None:
    records = policy_records("sft", LOW) + policy_records("grpo", HIGH) + policy_records("base", LOW)
    assert [row.policy for row in ladder(records)] == ["sft", "grpo", "base"]
    steps = lifts(records)
    assert [(step.before, step.after) for step in steps] == [("sft", "grpo"), ("grpo", "base")]
    assert [step.reward.estimate for step in steps] == pytest.approx([0.5, -0.5])
    json.dumps(steps[0].to_dict(), allow_nan=False)


def test_a_lift_pairs_by_episode(policy_records: Records) -> None:
    step = lift(policy_records("a", LOW) + policy_records("b", HIGH), "a", "b", split="anchor")
    # Every episode gains the same: the spread between episodes plays no part.
    assert step.reward.low == pytest.approx(0.5)
    assert step.reward.high == pytest.approx(0.5)


def test_a_gap_is_counted_as_missing(policy_records: Records) -> None:
    assert ladder(policy_records("base", LOW)[:-1])[0].missing == 1


def test_other_episodes_are_refused_by_name(policy_records: Records) -> None:
    with pytest.raises(UsageError, match=r"'base' and 'sft' were not asked the same episodes: 1 .* the first is e3"):
        ladder(policy_records("base", LOW) + policy_records("sft", LOW[:-1]))


def test_a_sample_that_stands_twice_is_refused(record: Maker) -> None:
    with pytest.raises(UsageError, match="sample 2 of e1 stands twice"):
        ladder([record("base", 1, 2), record("base", 1, 2)])


def test_rewards_with_other_digests_do_not_meet(record: Maker) -> None:
    with pytest.raises(UsageError, match="not comparable, they were decided by made-up:d1, made-up:d2"):
        ladder([record("base", digest="d1"), record("sft", digest="d2")])


def test_a_lift_of_a_policy_that_is_not_there(policy_records: Records) -> None:
    with pytest.raises(UsageError, match=r"no recorded completions of policy 'grpo' \(there are: base\)"):
        lift(policy_records("base", LOW), "base", "grpo", split="anchor")


def test_splits_are_apart(policy_records: Records) -> None:
    records = policy_records("base", LOW, split="dev") + policy_records("base", HIGH, split="holdout")
    assert [(row.split, row.sampled and row.sampled.reward.estimate) for row in ladder(records)] == [
        ("dev", pytest.approx(0.2)),
        ("holdout", pytest.approx(0.7)),
    ]
    assert lifts(records) == []
