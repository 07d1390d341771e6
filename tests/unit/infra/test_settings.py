"""Settings come from the environment, typed, and what cannot be read is said in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.infra.settings import ServiceSettings, Settings, load_settings, unknown_variables


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"RL_GYM_{name.upper()}", raising=False)


def test_the_environment_is_read_and_arguments_go_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RL_GYM_DATA", "/data")
    monkeypatch.setenv("RL_GYM_RUNS", "/elsewhere")
    settings = load_settings(runs=Path("here"))
    assert (settings.data, settings.runs) == (Path("/data"), Path("here"))


def test_without_any_setting_runs_lie_in_the_working_directory() -> None:
    assert load_settings() == Settings(data=None, runs=Path("runs"), objects="runs/objects")


def test_a_setting_that_cannot_be_read_is_named() -> None:
    with pytest.raises(UsageError, match=r"^RL_GYM_OBJECTS: .*string"):
        load_settings(objects=3)


def test_every_setting_has_a_sentence() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_variables_of_a_service_that_are_no_settings_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Example(ServiceSettings):
        service = "example"

    monkeypatch.setenv("RL_GYM_EXAMPLE_PORT", "1")
    monkeypatch.setenv("RL_GYM_EXAMPLE_PROT", "1")
    monkeypatch.setenv("RL_GYM_EXAMPLES", "1")
    assert unknown_variables(Example) == ["RL_GYM_EXAMPLE_PROT"]
