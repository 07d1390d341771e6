"""Settings that would make a worker which is well seem silent are refused when it starts."""

from __future__ import annotations

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.infra.settings import read_settings
from services.trainer.settings import TrainerSettings


@pytest.mark.parametrize(("heartbeat", "lease"), [(60, 5), (2, 5.9), (5, 14)])
def test_a_lease_takes_three_heartbeats(monkeypatch: pytest.MonkeyPatch, heartbeat: float, lease: float) -> None:
    monkeypatch.setenv("RL_GYM_TRAINER_HEARTBEAT_SECONDS", str(heartbeat))
    monkeypatch.setenv("RL_GYM_TRAINER_LEASE_SECONDS", str(lease))
    with pytest.raises(UsageError) as raised:
        read_settings(TrainerSettings)
    assert str(raised.value) == (
        f"RL_GYM_TRAINER_HEARTBEAT_SECONDS: {heartbeat:g} s between heartbeats are too many for leases of {lease:g} s: "
        "a lease takes 3 of them at least, so lower it or raise RL_GYM_TRAINER_LEASE_SECONDS"
    )
    monkeypatch.setenv("RL_GYM_TRAINER_LEASE_SECONDS", str(3 * heartbeat))
    assert read_settings(TrainerSettings).lease_seconds == 3 * heartbeat


def test_a_short_lease_needs_a_shorter_heartbeat_than_there_is_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RL_GYM_TRAINER_LEASE_SECONDS", "10")
    with pytest.raises(UsageError, match=r"HEARTBEAT_SECONDS: 5 s between heartbeats .* RL_GYM_TRAINER_LEASE_SECONDS"):
        read_settings(TrainerSettings)
