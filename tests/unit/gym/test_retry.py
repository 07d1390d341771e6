from __future__ import annotations

import pytest

from rl_gym.gym.retry import attempt
from rl_gym.infra.errors import InfrastructureError, UsageError


class Failing:
    def __init__(self, times: int, error: Exception) -> None:
        self.calls, self.times, self.error = 0, times, error

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return "done"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_fault_that_passes_is_forgotten(times: int, pauses: list[float]) -> None:
    assert attempt(Failing(times, InfrastructureError("down")), retries=2, pause=0.5) == "done"
    assert pauses == [0.5, 1.0][:times]


def test_a_fault_that_stays_is_returned_after_the_last_try(pauses: list[float]) -> None:
    call = Failing(99, InfrastructureError("down"))
    assert attempt(call, retries=2) is call.error
    assert call.calls == 3
    assert len(pauses) == 2


def test_a_mistake_of_the_caller_is_not_retried(pauses: list[float]) -> None:
    call = Failing(99, UsageError("no such thing"))
    with pytest.raises(UsageError):
        attempt(call)
    assert (call.calls, pauses) == (1, [])
