"""Rewards by the verifier service: the very same numbers, patience with faults, none with refusals, and never a 0.

The service is played by a function that judges for real; `tests/contract/trainer/test_rewards.py` asks a real one.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jwt", reason="the extra services is not installed")

import httpx

from rl_gym.gym.core import Environment, Episode, RewardBreakdown, score_completion
from rl_gym.gym.registry import get_env
from rl_gym.gym.trl import Answer, RewardFunction, reward_function
from rl_gym.iac.tasks.parametric import nano_episode
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.signing import SigningKey
from rl_gym.serving import score_batches
from rl_gym.training import verifier_rewards
from rl_gym.training.config import EnvironmentSection
from rl_gym.training.rewards import rewards, verifier_job
from rl_gym.training.verifier_rewards import VerifierRewards, standard_of
from rl_gym.wire import ErrorBody, Scorecard, ScoreRequest, ScoreResponse, ScoreResult
from tests.unit.training.answers import nano_answers

SECTION = EnvironmentSection(name="iac", options={"ruleset": "seed18", "profile": "default@1", "data": "elsewhere"})
ADDRESS = "http://verifier:8081"
REFUSALS = [(401, "unauthorized"), (403, "forbidden"), (404, "not_found"), (422, "usage")]


class Service:
    """Judges by an environment. `away` are the answers to the first calls in place of a judgement, and of a completion
    the first word is: `fault N` meets with a fault so often, `huge` has more findings than are answered, `refuse` an
    episode that is refused.
    """

    def __init__(self, env: Environment, *away: httpx.Response | Exception, most_items: int = 1_024) -> None:
        self.calls: list[ScoreRequest] = []
        self.requests = 0
        self._env, self._away, self._most_items = env, list(away), most_items
        self._faults: Counter[str] = Counter()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        if self._away:
            answer = self._away.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        asked = ScoreRequest.model_validate_json(request.content)
        self.calls.append(asked)
        if len(asked.items) > self._most_items or any(item.completion.startswith("]" * 9) for item in asked.items):
            return httpx.Response(413, json={"error": "too_large", "detail": "the body has too many brackets"})
        results = [self._result(item.episode.to_episode(), item.completion) for item in asked.items]
        head = {"environment": "iac", "ruleset": asked.ruleset, "profile": "default@1", "digest": "0" * 12}
        return httpx.Response(200, content=ScoreResponse(**head, results=results).model_dump_json())

    def _result(self, episode: Episode, completion: str) -> ScoreResult:
        self._faults[completion] += 1
        word, _, times = completion.partition(" ")
        if word == "fault" and self._faults[completion] <= int(times):
            return ScoreResult(error=ErrorBody(error="infrastructure_error", detail="it was tried 2 times"))
        if word == "huge":
            return ScoreResult(error=ErrorBody(error="too_large", detail="20000 findings"))
        if word == "refuse":
            return ScoreResult(error=ErrorBody(error="usage", detail="required: there is no type x"))
        return ScoreResult(scorecard=Scorecard.of(self._env, episode, completion))


def unavailable(count: int) -> list[httpx.Response]:
    return [httpx.Response(503, json={"error": "not_ready", "detail": "no worker is up yet"}) for _ in range(count)]


@pytest.fixture(scope="module")
def env() -> Environment:
    return get_env("iac", ruleset="seed18", profile="default@1")


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rl_gym.wire.clients.calls._FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(verifier_rewards, "_FIRST_PAUSE_SECONDS", 0.001)


@pytest.fixture
def ask(env: Environment) -> Iterator[Callable[..., VerifierRewards]]:
    """Rewards that a service gives; what they tell is in `told`."""
    made: list[VerifierRewards] = []

    def one(service: Service, patience: float = 5.0, told: list[str] | None = None) -> VerifierRewards:
        client = httpx.AsyncClient(transport=httpx.MockTransport(service))
        tell = (told if told is not None else []).append
        made.append(VerifierRewards(env, standard_of(SECTION), ADDRESS, patience=patience, client=client, tell=tell))
        return made[-1]

    yield one
    for each in made:
        each.close()


def episode(number: int = 1) -> Episode:
    return nano_episode(number)


def answers(*completions: str) -> list[Answer]:
    return [(episode(), completion) for completion in completions]


Ask = Callable[..., VerifierRewards]


def test_a_hundred_completions_earn_the_very_same(env: Environment, ask: Ask) -> None:
    asked = nano_answers(env, 150)
    service = Service(env)
    here = [score_completion(env, completion, of) for of, completion in asked]
    assert ask(service)(asked) == here
    assert len({breakdown.reward for breakdown in here}) > 10
    assert [(call.environment, call.ruleset, call.profile) for call in service.calls] == [
        ("iac", "seed18", "default@1")
    ]


def test_large_batches_go_in_parts_and_come_back_in_order(
    env: Environment, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier_rewards, "_ITEMS", 8)
    monkeypatch.setattr(score_batches, "_MOST_ITEMS", 8)
    asked = nano_answers(env, 30)
    service = Service(env)
    assert ask(service)(asked) == [score_completion(env, completion, of) for of, completion in asked]
    assert sorted(len(call.items) for call in service.calls) == [6, 8, 8, 8]


def test_what_the_trainer_gets_and_logs_is_the_same(env: Environment, ask: Ask) -> None:
    asked = nano_answers(env, 40)
    rows = [json.dumps(of.to_dict()) for of, _ in asked]
    told: list[dict[str, float]] = []
    for score in (None, ask(Service(env))):
        logged: dict[str, float] = {}
        reward = reward_function(env, score=score)
        found = reward([""] * 40, [text for _, text in asked], episode=rows, log_metric=logged.__setitem__)
        told.append({**logged, **{str(number): value for number, value in enumerate(found) if value is not None}})
        assert (reward.__name__, len(found)) == ("iac_reward", 40)
    assert told[0] == told[1]
    assert list(told[0]) == list(told[1])


@pytest.mark.parametrize(
    "away",
    [
        unavailable(12),
        [httpx.ConnectError("refused")] * 12,
        [httpx.Response(500)] * 3,
        [httpx.ReadTimeout("late")] * 7,
        [httpx.Response(429, json={"error": "busy", "detail": "full"})] * 6,
        [httpx.Response(408, json={"error": "request_timeout", "detail": "the body did not arrive within 10 s"})] * 6,
        [httpx.Response(200, content=b"<html>")],
    ],
)
def test_a_verifier_that_is_away_is_waited_for(env: Environment, ask: Ask, away: list[Any]) -> None:
    told: list[str] = []
    asked = nano_answers(env, 12)
    service = Service(env, *away)
    assert ask(service, told=told)(asked) == [score_completion(env, completion, of) for of, completion in asked]
    assert service.requests == len(away) + 1
    assert len(told) <= 1
    assert all("asking again for 5 s at most" in text for text in told)


def test_one_that_stays_away_ends_the_training_and_no_sample_is_a_0(env: Environment, ask: Ask) -> None:
    told: list[str] = []
    score = ask(Service(env, *unavailable(10_000)), 0.05, told)
    outcomes = score(answers("", "x"))
    assert [type(outcome) for outcome in outcomes] == [InfrastructureError] * 2
    assert "warning: 2 of 2 completions are skipped: the verifier: no worker is up yet" in told
    reward = reward_function(env, score=score)
    with pytest.raises(InfrastructureError, match=r"^no completion of this batch could be scored: the verifier: no w"):
        reward([""], ["x"], episode=[json.dumps(episode().to_dict())])


def test_a_completion_whose_judgement_fails_is_sent_once_more_and_then_skipped(env: Environment, ask: Ask) -> None:
    told: list[str] = []
    service = Service(env)
    logged: dict[str, float] = {}
    texts = ["", "fault 1", "fault 9", ""]
    reward = reward_function(env, score=ask(service, told=told))
    found = reward(
        [""] * 4, texts, episode=[json.dumps(episode().to_dict())] * 4, log_metric=lambda k, v: logged.update({k: v})
    )
    assert found == [0.0, 0.0, None, 0.0]
    assert logged["unscored"] == 0.25
    assert [[item.completion for item in call.items] for call in service.calls] == [texts, ["fault 1", "fault 9"]]
    assert told[-1] == "warning: 1 of 4 completions are skipped: the verifier: it was tried 2 times"


def test_where_every_judgement_fails_it_is_asked_again_for_longer(env: Environment, ask: Ask) -> None:
    service = Service(env)
    assert all(isinstance(one, RewardBreakdown) for one in ask(service)(answers("fault 6", "fault 6 ")))
    assert len(service.calls) == 7


def test_too_many_skipped_for_too_long_is_a_fault(env: Environment, ask: Ask) -> None:
    score = ask(Service(env))
    batch = answers("", "fault 999", "fault 9999")
    for _ in range(7):
        score(batch)
    with pytest.raises(InfrastructureError, match=f"{ADDRESS} did not judge 16 of 24 completions of the last 8 batch"):
        score(batch)


def test_half_of_them_is_borne(env: Environment, ask: Ask) -> None:
    score = ask(Service(env))
    assert [len(score(answers("", "fault 999"))) for _ in range(12)] == [2] * 12


@pytest.mark.parametrize(("status", "word"), REFUSALS)
def test_a_refusal_is_a_mistake_at_once(env: Environment, ask: Ask, status: int, word: str) -> None:
    service = Service(env, httpx.Response(status, json={"error": word, "detail": "no such thing here"}))
    with pytest.raises(UsageError, match="no such thing here") as raised:
        ask(service).check(episode())
    assert raised.value.code == word
    assert service.requests == 1


def test_an_episode_that_the_verifier_refuses_is_a_mistake(env: Environment, ask: Ask) -> None:
    with pytest.raises(UsageError, match=r"there is no type x"):
        ask(Service(env))(answers("", "refuse"))
    with pytest.raises(UsageError, match=r"^request: String should have at most 16384"):
        ask(Service(env))([(Episode("e", "x" * 20_000), "")])


def test_other_rules_are_refused_before_the_first_step_and_later(env: Environment, ask: Ask) -> None:
    other = get_env("iac", ruleset="base", profile="default@1")
    score = ask(Service(other))
    said = f"judges by other rules: digest {other.reward.digest}, this run {env.reward.digest};"
    with pytest.raises(UsageError, match=said):
        score.check(episode())
    with pytest.raises(UsageError, match=said):
        score(answers("x"))
    ask(Service(env)).check(episode())


def test_what_is_too_much_for_a_message_is_judged_here(env: Environment, ask: Ask) -> None:
    texts = ["", "]" * 50_000, "x" * 300_000, "huge", "\ud800", 'resource "aws_sqs_queue" "a" {}\n']
    service = Service(env)
    assert ask(service)(answers(*texts)) == [score_completion(env, text, episode()) for text in texts]
    assert max(len(item.completion) for call in service.calls for item in call.items) == 50_000


def test_a_body_that_is_refused_as_too_large_is_halved(
    env: Environment, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_batches, "_MOST_ITEMS", 5)
    asked = nano_answers(env, 20)
    service = Service(env, most_items=5)
    assert ask(service)(asked) == [score_completion(env, completion, of) for of, completion in asked]
    assert sorted(len(call.items) for call in service.calls) == [5, 5, 5, 5, 10, 10, 20]


def test_options_that_only_choose_episodes_are_not_asked_for() -> None:
    assert standard_of(SECTION).ruleset == "seed18"
    plain = standard_of(EnvironmentSection(name="countdown"))
    assert (plain.environment, plain.ruleset, plain.profile) == ("countdown", "base", "default")


def test_without_a_verifier_it_is_judged_in_this_process(env: Environment) -> None:
    with rewards(env, SECTION, [], None, lambda text: None) as reward:
        found = reward([""], [""], episode=[json.dumps(episode().to_dict())])
    assert found == [0.0]


def test_a_verifier_that_is_not_there_is_a_fault_before_the_first_step(
    env: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier_rewards, "_PATIENCE_SECONDS", 0.01)
    told: list[str] = []
    rows = [{"episode": json.dumps(episode().to_dict())}]
    verifier = {"address": "http://127.0.0.1:9"}
    with (
        pytest.raises(InfrastructureError, match=r"^the verifier at http://127\.0\.0\.1:9 does not answer: Connect"),
        rewards(env, SECTION, rows, verifier, told.append),
    ):
        raise AssertionError


def test_a_job_names_a_verifier_and_a_file(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    SigningKey.generate().write(key)
    assert verifier_job(ADDRESS) == {"address": ADDRESS, "signing_key": ""}
    assert verifier_job(ADDRESS, str(key)) == {"address": ADDRESS, "signing_key": str(key)}
    with pytest.raises(UsageError, match="needs an address"):
        verifier_job("")
    with pytest.raises(NotFoundError) as raised:
        verifier_job(ADDRESS, "c2VjcmV0")
    assert "c2VjcmV0" not in str(raised.value)


@pytest.mark.parametrize("verifier", [{"address": "verifier:8081"}, {"address": "http://x", "signing_key": "nowhere"}])
def test_what_no_verifier_can_be_is_a_mistake(env: Environment, verifier: dict[str, str]) -> None:
    with pytest.raises(UsageError), rewards(env, SECTION, [], verifier, lambda text: None):
        raise AssertionError


def test_the_real_trainer_leaves_out_what_was_not_scored(
    env: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two steps of two groups: one without a score, one that lacks one, one with a single score, one whole."""
    pytest.importorskip("trl", reason="the extra train is not installed")
    import torch
    from trl import GRPOTrainer

    from rl_gym.training import trainers
    from tests.unit.training.test_trainers import Told, job

    given = iter([[None, None, None, None, None, 1.0, 0.0, 0.5], [None, None, 0.7, None, 1.0, 0.0, 0.0, 0.0]])
    advantages: list[list[float]] = []

    def score(asked: Sequence[Answer]) -> list[RewardBreakdown | InfrastructureError]:
        return [
            InfrastructureError("away") if reward is None else replace(score_completion(env, text, of), reward=reward)
            for (of, text), reward in zip(asked, next(given), strict=True)
        ]

    @contextmanager
    def scored(*_: object) -> Iterator[RewardFunction]:
        yield reward_function(env, score=score)

    def noted(trainer: Any, inputs: Any) -> Any:
        batch = generate(trainer, inputs)
        advantages.append(batch["advantages"].tolist())
        return batch

    generate = GRPOTrainer._generate_and_score_completions
    monkeypatch.setattr(GRPOTrainer, "_generate_and_score_completions", noted)
    monkeypatch.setattr(trainers, "rewards", scored)
    told = Told()
    try:
        trainers.train_grpo(job(tmp_path / "run", "grpo", ["grpo.steps=2"]), told)
    finally:
        torch.use_deterministic_algorithms(False)
    first, second = advantages
    assert first[:5] == [0.0] * 5
    assert first[5:] == pytest.approx([1.0, -1.0, 0.0], abs=1e-3)
    assert second[:4] == [0.0] * 4
    assert second[4:] == pytest.approx([1.5, -0.5, -0.5, -0.5], abs=1e-3)
    assert [step["unscored"] for step in told.steps] == [0.625, 0.375]
    assert [step["reward"] for step in told.steps] == pytest.approx([0.5, 0.34])
    assert all(math.isfinite(step["loss"]) and math.isfinite(step["grad_norm"]) for step in told.steps)
