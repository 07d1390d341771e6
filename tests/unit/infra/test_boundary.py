"""What counts as inside of a deployment."""

from __future__ import annotations

import pytest

from rl_gym.infra.boundary import is_inside


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8000",
        "http://[::1]/v1",
        "http://10.1.2.3",
        "http://vllm:8000/v1",
        "https://llm.corp.internal/v1",
    ],
)
def test_inside(address: str) -> None:
    assert is_inside(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://api.example.com/v1",
        "https://8.8.8.8",
        "http://0.0.0.0:8000",
        "https://internal.example.com",
        "https://vllm@api.example.com/v1",
        "http://2130706433.example.com",
        "http://[broken",
        "",
    ],
)
def test_outside(address: str) -> None:
    assert not is_inside(address)
