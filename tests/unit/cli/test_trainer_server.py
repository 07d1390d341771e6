"""Which trainer is asked, and in whose name."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("jwt", reason="the extra services is not installed")

from rl_gym.cli.trainer_server import server_of, trainer
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.principals import read_principal
from rl_gym.infra.signing import KeyRing, SigningKey


def test_what_is_named_goes_before_what_is_set_and_that_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RL_GYM_TRAINER_URL", raising=False)
    assert server_of(None) == "http://127.0.0.1:8083"
    monkeypatch.setenv("RL_GYM_TRAINER_URL", "http://trainer:8083")
    assert server_of(None) == "http://trainer:8083"
    assert server_of("http://other") == "http://other"


def test_a_call_is_signed_for_the_trainer_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    key = SigningKey.generate()
    key.write(tmp_path / "key.pem")
    monkeypatch.setenv("RL_GYM_SIGNING_KEY", str(tmp_path / "key.pem"))
    with trainer("http://trainer") as client:
        caller = client._transport._steering.caller
        assert caller is not None
        principal = read_principal(caller.token("r-1"), KeyRing.load(str(key.public)), "trainer")
    assert (principal.scopes, principal.request_id) == ({"train", "watch"}, "r-1")


def test_without_a_key_nobody_signs_and_a_missing_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RL_GYM_SIGNING_KEY", raising=False)
    with trainer("http://trainer") as client:
        assert client._transport._steering.caller is None
    monkeypatch.setenv("RL_GYM_SIGNING_KEY", "nowhere.pem")
    with pytest.raises((NotFoundError, UsageError), match=r"nowhere\.pem"):
        trainer("http://trainer")
