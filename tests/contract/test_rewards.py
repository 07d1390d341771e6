"""Rewards of a training from a verifier as it runs for real: GRPO learns the very same, whoever judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")
pytest.importorskip("fastapi", reason="the extra services is not installed")

import torch

from rl_gym.gym.core import RewardBreakdown, score_completion
from rl_gym.gym.registry import get_env
from rl_gym.iac.standard import Standard
from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import NotFoundError, UnauthorizedError, UsageError
from rl_gym.infra.signing import SigningKey
from rl_gym.training import verifier_rewards
from rl_gym.training.rewards import verifier_job
from rl_gym.training.trainers import train_grpo
from rl_gym.training.verifier_rewards import VerifierRewards
from tests.contract.processes import free_port, running
from tests.unit.training.answers import nano_answers
from tests.unit.training.test_trainers import Told, job

STEPS = ("grpo.steps=2",)
STANDARD = Standard(ruleset="seed18", profile="default@1")
TIMES = ("runtime", "per_second", "step_time")


@pytest.fixture(autouse=True, scope="module")
def _kernels_as_they_were() -> Iterator[None]:
    yield
    torch.use_deterministic_algorithms(False)


class Watched(Told):
    """Tells, and does something at the end of the first step and at each warning."""

    def __init__(self, first_step: Callable[[], object], warned: Callable[[], object]) -> None:
        super().__init__()
        self._first_step, self._warned = first_step, warned

    def progress(self, job: str, done: float, total: float) -> None:
        super().progress(job, done, total)
        if done == 1:
            self._first_step()

    def note(self, job: str, text: str) -> None:
        super().note(job, text)
        if text.startswith("warning: the verifier"):
            self._warned()


def metrics(told: Told) -> list[dict[str, float]]:
    """What was logged, but for what the clock says."""
    return [{k: v for k, v in step.items() if not any(word in k for word in TIMES)} for step in told.steps]


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, float]], str]:
    """What two steps log where the training itself judges, and the digest of the model that they make."""
    run, told = tmp_path_factory.mktemp("in_process") / "run", Told()
    train_grpo(job(run, "grpo", STEPS), told)
    return metrics(told), tree_digest(run / "grpo" / "model")


def test_completions_of_all_kinds_earn_the_very_same(verifier: str) -> None:
    env = get_env("iac", ruleset=STANDARD.ruleset, profile=STANDARD.profile)
    answers = nano_answers(env, 300)
    score = VerifierRewards(env, STANDARD, verifier)
    try:
        score.check(answers[0][0])
        found = score(answers)
    finally:
        score.close()
    assert found == [score_completion(env, completion, episode) for episode, completion in answers]
    assert len({one.reward for one in found if isinstance(one, RewardBreakdown)}) > 20


def test_grpo_learns_the_same_over_http(
    verifier: str, tmp_path: Path, in_process: tuple[list[dict[str, float]], str]
) -> None:
    told = Told()
    asked = {**job(tmp_path / "run", "grpo", STEPS), "verifier": verifier_job(verifier)}
    train_grpo(asked, told)
    assert (metrics(told), tree_digest(tmp_path / "run" / "grpo" / "model")) == in_process
    assert [step["unscored"] for step in told.steps] == [0, 0]
    assert told.notes == []


def test_a_verifier_that_starts_late_and_again_costs_no_sample(
    tmp_path: Path, in_process: tuple[list[dict[str, float]], str]
) -> None:
    """It is not there at first, wants to know who asks, and is stopped after the first step."""
    key, port = tmp_path / "key.pem", free_port()
    signing = SigningKey.generate()
    signing.write(key)
    settings = {"WORKERS": "1", "ENGINES": "builtin", "PRINCIPAL_KEYS": str(signing.public)}
    asked: dict[str, Any] = job(tmp_path / "run", "grpo", STEPS)
    with ExitStack() as up:
        told = Watched(up.close, lambda: up.enter_context(running("verifier", settings, port=port)))
        train_grpo({**asked, "verifier": verifier_job(f"http://127.0.0.1:{port}", str(key))}, told)
        assert len(told.notes) == 2
        assert all("does not answer" in note and "asking again" in note for note in told.notes)
        assert (metrics(told), tree_digest(tmp_path / "run" / "grpo" / "model")) == in_process
        with pytest.raises(UnauthorizedError):
            train_grpo({**asked, "verifier": verifier_job(f"http://127.0.0.1:{port}")}, Told())


def test_a_verifier_that_judges_by_other_rules_is_refused_before_the_first_step(
    verifier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {**job(tmp_path / "run", "grpo", STEPS), "verifier": verifier_job(verifier)}
    told = Told()
    by_other_rules = rf"the verifier at {verifier} judges by other rules: digest [0-9a-f]{{12}}, this run 11250b66fa1e"
    for standard, kind, said in (
        (Standard(ruleset="base"), UsageError, by_other_rules),
        (Standard(ruleset="nope"), NotFoundError, "no ruleset"),
    ):
        monkeypatch.setattr(verifier_rewards, "standard_of", lambda section, standard=standard: standard)
        with pytest.raises(kind, match=said):
            train_grpo(asked, told)
    assert told.messages == []
