"""The policy service with a vLLM that it starts and keeps up itself, by the contract of all engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra services is not installed")

from tests.contract.policy_contract import PolicyContract
from tests.contract.processes import running
from tests.vllm.engines import MODEL

_START_SECONDS = 240


@pytest.fixture(scope="module")
def policy(vllm_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = {
        "ENGINE": "vllm",
        "VLLM_PYTHON": str(vllm_python),
        "VLLM_DEVICE": "cpu",
        "VLLM_FLAGS": "--dtype float32 --enforce-eager --speculative-config none",
        "BASE": MODEL,
        "MAX_TOKENS": "48",
        "BATCH_SEQUENCES": "64",
        "BODY_BYTES": str(4 << 20),
        "OBJECTS": str(tmp_path_factory.mktemp("objects")),
        "ADAPTERS": str(tmp_path_factory.mktemp("adapters")),
    }
    with running("policy", settings, _START_SECONDS) as address:
        yield address


class TestSupervised(PolicyContract):
    models = (MODEL, MODEL)
