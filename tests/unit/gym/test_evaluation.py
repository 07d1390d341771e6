from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import MissingSample, evaluate, evaluate_reference
from rl_gym.gym.examples.countdown import Countdown
from rl_gym.gym.pairing import missing_samples
from rl_gym.infra.errors import InfrastructureError, UsageError


@dataclass(frozen=True)
class Answer:
    text: str
    tokens: int | list[int] | None = None
    finish_reason: Literal["stop", "length"] | None = "stop"


class Scripted:
    """A policy that answers each prompt with its number, and keeps what it was asked."""

    def __init__(self, text: str = "1") -> None:
        self.text = text
        self.calls: list[tuple[int, int, bool]] = []

    def __call__(self, prompts: Sequence[str], samples: int, greedy: bool) -> list[list[Answer]]:
        self.calls.append((len(prompts), samples, greedy))
        return [[Answer(self.text, [1, 2, 3]) for _ in range(samples)] for _ in prompts]


class Flaky(Countdown):
    """Fails on chosen completions, `times` times each."""

    def __init__(self, bad: str, times: int) -> None:
        self.bad, self.times, self.tries = bad, times, 0

    def parse(self, completion: str, episode: Episode) -> Any:
        if completion == self.bad:
            self.tries += 1
            if self.tries <= self.times:
                raise TimeoutError("the worker is gone")
        return super().parse(completion, episode)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def test_each_episode_is_asked_greedily_once_and_sampled_in_batches(countdown: Countdown) -> None:
    episodes = countdown.episodes("dev")[:5]
    policy, progress = Scripted(), list[tuple[int, int]]()
    records = evaluate(
        countdown,
        episodes,
        "base",
        policy,
        split="dev",
        samples=3,
        batch=2,
        model="m1",
        on_progress=lambda done, total: progress.append((done, total)),
    )
    assert policy.calls == [(2, 1, True), (2, 3, False)] * 2 + [(1, 1, True), (1, 3, False)]
    assert len(records) == 5 * 4
    assert progress[-1] == (20, 20)
    assert progress == sorted(progress)
    own = [r for r in records if r.episode_id == episodes[0].id]
    assert [(r.greedy, r.sample) for r in own] == [(True, 0), (False, 0), (False, 1), (False, 2)]
    assert {(r.environment, r.split, r.policy, r.model, r.completion_tokens) for r in records} == {
        ("countdown", "dev", "base", "m1", 3)
    }


def test_a_record_holds_the_verdict_the_checks_and_the_canonical_form(countdown: Countdown) -> None:
    episode = countdown.episodes("dev")[0]
    [greedy, sampled] = evaluate_reference(countdown, [episode], "oracle", countdown.oracle, split="dev")
    assert (greedy.greedy, sampled.greedy, sampled.sample) == (True, False, 0)
    assert sampled.breakdown.reward == 1.0
    assert sampled.breakdown.digest == countdown.reward.digest
    assert sampled.checks == dict.fromkeys(["arithmetic", "numbers_given", "target_reached"], "pass")
    assert sampled.canonical == countdown.canonical(countdown.parse(countdown.oracle(episode), episode))  # type: ignore[arg-type]
    assert sampled.episode_hash == episode.hash


def test_what_does_not_parse_is_recorded_without_checks(countdown: Countdown) -> None:
    records = evaluate(countdown, countdown.episodes("dev")[:1], "base", Scripted("no \ud800 idea"), split="dev")
    assert records[0].completion == "no ? idea"
    assert (records[0].checks, records[0].canonical, records[0].breakdown.valid) == ({}, "", False)


def test_a_passing_fault_is_retried_and_leaves_no_trace(countdown: Countdown) -> None:
    episodes = countdown.episodes("dev")[:1]
    flaky = evaluate(Flaky("1", times=2), episodes, "base", Scripted(), split="dev", retries=2)
    assert flaky == evaluate(countdown, episodes, "base", Scripted(), split="dev")


def test_a_lasting_fault_is_a_missing_sample_and_never_a_zero(caplog: pytest.LogCaptureFixture) -> None:
    env = Flaky("bad", times=1_000)
    episodes = env.episodes("dev")[:20]

    def policy(prompts: Sequence[str], samples: int, greedy: bool) -> list[list[Answer]]:
        answers = [[Answer("1") for _ in range(samples)] for _ in prompts]
        if not greedy:
            answers[3][1] = Answer("bad")
        return answers

    missing: list[MissingSample] = []
    records = evaluate(env, episodes, "base", policy, split="dev", samples=2, on_missing=missing.append)
    assert [(m.episode_id, m.sample, m.greedy) for m in missing] == [(episodes[3].id, 1, False)]
    assert "the worker is gone" in missing[0].reason
    assert len(records) == 20 * 3 - 1
    assert missing_samples(records) == 1
    with caplog.at_level(logging.WARNING):
        evaluate(env, episodes, "base", policy, split="dev", samples=2)
    assert f"not scored: base, episode {episodes[3].id}, sample 1" in caplog.text


def test_a_dead_verifier_stops_the_evaluation() -> None:
    env = Flaky("1", times=10_000)
    with pytest.raises(InfrastructureError, match=r"5 of 5 completions of 'base' could not be scored.*worker is gone"):
        evaluate(env, env.episodes("dev")[:1], "base", Scripted(), split="dev")


def test_checks_outside_their_vocabulary_are_our_fault(countdown: Countdown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Countdown, "checks", lambda *_: {"a": "perhaps"})
    with pytest.raises(InfrastructureError, match="could not be scored"):
        evaluate(countdown, countdown.episodes("dev")[:1], "base", Scripted(), split="dev")


@pytest.mark.parametrize("answers", [[], [["1"]], [["1"] * 4, ["1"] * 3]])
def test_a_policy_that_answers_the_wrong_number_is_a_fault(countdown: Countdown, answers: list[list[str]]) -> None:
    with pytest.raises(InfrastructureError, match="asked for 4 completions of 2 prompts"):
        evaluate(
            countdown,
            countdown.episodes("dev")[:2],
            "base",
            lambda prompts, samples, greedy: [[Answer(text) for text in row] for row in answers],
            split="dev",
            greedy=False,
        )


def test_nothing_to_evaluate_is_refused(countdown: Countdown) -> None:
    episode = countdown.episodes("dev")[0]
    with pytest.raises(UsageError, match="no episodes"):
        evaluate(countdown, [], "base", Scripted(), split="dev")
    with pytest.raises(UsageError, match=f"stands twice.*{episode.id}, {episode.id}"):
        evaluate(countdown, [episode, episode], "base", Scripted(), split="dev")
    with pytest.raises(UsageError, match="samples is 0"):
        evaluate(countdown, [episode], "base", Scripted(), split="dev", samples=0, greedy=False)
