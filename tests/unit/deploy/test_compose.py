"""What compose and the Dockerfiles tell a service are settings that it has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from rl_gym.infra.settings import ServiceSettings

ROOT = Path(__file__).resolve().parents[3]
SERVICES = ("verifier", "policy", "trainer")
PARTS = {"trainer-worker": "work", "trainer-control": "control"}


def settings_of(service: str) -> type[ServiceSettings]:
    if service == "verifier":
        from services.verifier.settings import VerifierSettings

        return VerifierSettings
    if service == "trainer":
        from services.trainer.settings import TrainerSettings

        return TrainerSettings
    from services.policy.settings import PolicySettings

    return PolicySettings


def composed() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return services


def dockerfile(service: str) -> str:
    return (ROOT / "services" / service / "Dockerfile").read_text()


@pytest.mark.parametrize("service", SERVICES)
def test_every_variable_is_a_setting(service: str) -> None:
    given = [*composed()[service]["environment"], *re.findall(r"\bRL_GYM_[A-Z_]+", dockerfile(service))]
    names = {name.removeprefix("RL_GYM_").removeprefix(f"{service.upper()}_").lower() for name in given}
    assert names >= {"principal_keys", "host", "port", "objects"}
    assert names <= set(settings_of(service).model_fields)


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_runs_as_nobody_special_and_says_how_it_is(service: str) -> None:
    assert re.search(r"^USER (?!0|root)", dockerfile(service), flags=re.MULTILINE)
    assert "HEALTHCHECK" in dockerfile(service)
    assert composed()[service]["read_only"] is True


def test_only_services_that_ask_for_principals_are_published_and_on_loopback() -> None:
    published = {name: ports for name, one in composed().items() for ports in one.get("ports", ())}
    assert set(published) == set(SERVICES)
    assert all(port.startswith("127.0.0.1:") for port in published.values())


@pytest.mark.parametrize("part", PARTS)
def test_the_parts_of_the_trainer_are_told_what_its_api_is(part: str) -> None:
    trainer, worker = composed()["trainer"], composed()[part]
    assert worker["command"] == ["python", "-m", "services.trainer", PARTS[part]]
    assert {**worker["environment"], **trainer["environment"]} == worker["environment"]
    given = [name.removeprefix("RL_GYM_").removeprefix("TRAINER_").lower() for name in worker["environment"]]
    assert set(given) <= set(settings_of("trainer").model_fields)
    assert (worker["read_only"], worker["volumes"]) == (True, trainer["volumes"])
    assert {"mem_limit", "pids_limit", "stop_grace_period"} <= set(worker)


def test_a_worker_has_the_time_to_give_its_stage_back() -> None:
    pytest.importorskip("celery", reason="the extra services is not installed")
    from services.trainer.worker import GRACE_SECONDS

    assert int(composed()["trainer-worker"]["stop_grace_period"].removesuffix("s")) > GRACE_SECONDS


def test_what_the_trainer_needs_says_how_it_is_and_asks_for_a_password() -> None:
    for name in ("redis", "postgres"):
        one = composed()[name]
        assert one["healthcheck"]["test"][0] == "CMD"
        assert any("PASSWORD:?" in value for value in one["environment"].values())
        assert composed()["trainer"]["depends_on"][name] == {"condition": "service_healthy"}


def test_the_engine_sees_adapters_where_the_policy_puts_them() -> None:
    folder = re.search(r"RL_GYM_POLICY_ADAPTERS=(\S+)", dockerfile("policy"))
    assert folder
    for service in ("policy", "vllm"):
        assert any(volume.startswith(f"adapters:{folder[1]}") for volume in composed()[service]["volumes"])


def test_the_engine_gives_log_probabilities_as_one_that_the_policy_starts() -> None:
    pytest.importorskip("structlog", reason="the extra services is not installed")
    from services.policy.supervision import EngineFlags

    command = dict(word.split("=", 1) for word in composed()["vllm"]["command"] if "=" in word)
    assert command["--logprobs-mode"] == EngineFlags().logprobs_mode
