"""One real vLLM a session, on the CPU and loopback, with LoRA adapters of the packaged nano model."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tests.contract.backend_contract import PROMPTS
from tests.vllm.engines import PYTHON, Hosted, hosted


@pytest.fixture(scope="session", autouse=True)
def quiet() -> Iterator[None]:
    """vLLM says a thousand lines; what matters of them is in the supervisor's state."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def vllm_python() -> Path:
    """The Python that has vLLM."""
    if not PYTHON.exists():
        pytest.skip("there is no .venv-vllm: `make vllm` makes it")
    return PYTHON


@pytest.fixture(scope="session")
def vllm(vllm_python: Path) -> Iterator[Hosted]:
    """The engine that most tests share, on the one rung that leaves greedy reproducible."""
    with hosted(speculative_config="none") as host:
        host.call(host.supervisor.ready())
        yield host


@pytest.fixture(scope="session")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders by name: two that answer differently, one that changes nothing, and one of a rank that is too large."""
    pytest.importorskip("peft", reason="the extra train is not installed")
    from tests.vllm.adapters import make_adapter

    folder = tmp_path_factory.mktemp("adapters")
    bucket, key = 'resource "aws_s3_bucket" "b" {}\n', 'resource "aws_kms_key" "k" {}\n'
    with warnings.catch_warnings():
        # PEFT speaks to transformers by names of last year.
        warnings.simplefilter("ignore", FutureWarning)
        return {
            "buckets": make_adapter(folder / "buckets", PROMPTS, bucket),
            "keys": make_adapter(folder / "keys", PROMPTS, key),
            "nothing": make_adapter(folder / "nothing", PROMPTS),
            "large": make_adapter(folder / "large", PROMPTS, rank=16),
        }
