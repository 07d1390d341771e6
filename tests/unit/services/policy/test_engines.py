"""Which models the policy's own engine is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.infra.errors import ForbiddenError, NotFoundError, UsageError
from rl_gym.infra.settings import read_settings
from services.policy.engines import own_engine
from services.policy.settings import PolicySettings


def test_another_digest_than_the_pinned_one_is_refused() -> None:
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match=f"nano-base has the sha256 .*, not {'0' * 64}"):
        own_engine(PolicySettings(base=f"nano-base@sha256:{'0' * 64}"))


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
def test_a_source_that_is_not_allowed_is_refused(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("RL_GYM_WEIGHTS", "hub:org,packaged")
    monkeypatch.setenv("RL_GYM_POLICY_WEIGHTS", "packaged")
    with pytest.raises(ForbiddenError, match="add hub:org/model to RL_GYM_WEIGHTS"):
        own_engine(read_settings(PolicySettings, engine=engine, base="hub:org/model"))


def test_vllm_is_not_told_to_fetch_by_itself() -> None:
    with pytest.raises(NotFoundError, match="others are named hub:ORG/NAME"):
        own_engine(PolicySettings(engine="vllm", base="Qwen/Qwen2.5-7B-Instruct", vllm_python=Path("none")))


def test_an_engine_elsewhere_has_names_of_its_own() -> None:
    own = own_engine(PolicySettings(engine="openai", engine_url="http://127.0.0.1:1", base="Qwen/Qwen2.5-7B"))
    assert (own.base.name, own.first.name) == ("Qwen/Qwen2.5-7B", "Qwen/Qwen2.5-7B")
