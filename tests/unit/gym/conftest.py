"""Builders that the tests of the SDK share: a countdown environment, and recorded completions made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from rl_gym.gym.core import RewardBreakdown
from rl_gym.gym.examples.countdown import Countdown, make
from rl_gym.gym.records import RecordedCompletion

RecordMaker = Callable[..., RecordedCompletion]


@pytest.fixture
def countdown() -> Countdown:
    return make()


@pytest.fixture
def record() -> RecordMaker:
    """`record(policy, episode, sample=0, reward=..., **fields)`: one record, plausible where nothing is said."""

    def build(
        policy: str = "sft",
        episode: int = 0,
        sample: int = 0,
        *,
        reward: float = 1.0,
        gates: Mapping[str, bool] | None = None,
        components: Mapping[str, float | None] | None = None,
        digest: str = "d1",
        **fields: Any,
    ) -> RecordedCompletion:
        breakdown = RewardBreakdown(
            reward=reward,
            components=components if components is not None else {"score": max(0.0, reward)},
            gates=gates if gates is not None else {"gate": reward > 0},
            valid=True,
            action="x",
            digest=digest,
        )
        defaults = {
            "environment": "made-up",
            "split": "anchor",
            "episode_id": f"e{episode}",
            "episode_hash": f"{episode:08d}",
            "request": "r",
            "greedy": False,
            "completion": "x",
        }
        return RecordedCompletion(**{**defaults, "policy": policy, "sample": sample, "breakdown": breakdown, **fields})

    return build


@pytest.fixture
def policy_records(record: RecordMaker) -> Callable[..., list[RecordedCompletion]]:
    """`policy_records(policy, rewards)`: one record a reward, `rewards[episode][sample]`."""

    def build(policy: str, rewards: Sequence[Sequence[float]], **fields: Any) -> list[RecordedCompletion]:
        return [
            record(policy, episode, sample, reward=float(reward), **fields)
            for episode, row in enumerate(rewards)
            for sample, reward in enumerate(row)
        ]

    return build
