"""What happens beside a training: reports that are JSON, and a guard that names the knob."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("transformers")

from rl_gym.infra.errors import UsageError
from rl_gym.training.callbacks import LossGuard, Reporter
from rl_gym.training.child import Channel
from rl_gym.training.config import resolve


def state(*losses: float) -> Any:
    return SimpleNamespace(global_step=len(losses), log_history=[{"loss": loss} for loss in losses])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_the_guard_tells_the_step_the_losses_and_the_keys(value: float) -> None:
    guard = LossGuard("grpo", resolve("micro", ["grpo.precision=bf16", "grpo.warmup_steps=0.1"]).grpo)
    with pytest.raises(UsageError) as raised:
        guard.on_log(None, state(1, 2, 3, 4, 5, 60, value), None, logs={"loss": value})
    assert str(raised.value) == (
        f"the loss is {value} at step 7 (losses: ..., 3, 4, 5, 60, {value}): lower grpo.learning_rate (0.003) or raise "
        "grpo.warmup_steps (0.1), or set grpo.precision=fp32"
    )


def test_the_guard_looks_at_the_gradient_too() -> None:
    guard = LossGuard("sft", resolve("micro").sft)
    with pytest.raises(UsageError, match=r"the gradient is nan at step 2 \(losses: 3, 2\): lower sft\.learning_rate"):
        guard.on_log(None, state(3, 2), None, logs={"loss": 2.0, "grad_norm": float("nan")})


@pytest.mark.parametrize("logs", [{"loss": 0.0, "grad_norm": 1e30}, {"train_runtime": 3.0}, {}, None])
def test_the_guard_lets_numbers_pass(logs: dict[str, float] | None) -> None:
    LossGuard("sft", resolve("micro").sft).on_log(None, state(1.0), None, logs=logs)


def test_what_is_reported_is_json_and_counts_dead_groups() -> None:
    stream = io.StringIO()
    logs = {"reward": 0.5, "entropy": float("nan"), "frac_reward_zero_std": 0.25, "note": "text"}
    Reporter("grpo", Channel(stream), groups=8).on_log(None, state(1.0), None, logs=logs)
    message = json.loads(stream.getvalue(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert message["metrics"] == {"reward": 0.5, "frac_reward_zero_std": 0.25, "zero_variance_groups": 2.0}
