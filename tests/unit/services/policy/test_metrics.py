"""Metrics that are words: what Prometheus reads of them."""

from __future__ import annotations

import pytest

pytest.importorskip("prometheus_client", reason="the extra services is not installed")

from prometheus_client import CollectorRegistry

from services.policy.metrics import PolicyMetrics


def test_a_word_is_told_as_it_is_now() -> None:
    registry = CollectorRegistry()
    said = ""
    PolicyMetrics(registry).word("engine_configuration", "What was accepted", lambda: said)
    name = "rl_gym_policy_engine_configuration"

    def told(word: str) -> float | None:
        return registry.get_sample_value(name, {"is": word})

    assert told("") is None
    said = "fp8, eager"
    assert told("fp8, eager") == 1
    said = "bfloat16, eager"
    assert (told("fp8, eager"), told("bfloat16, eager")) == (None, 1)
