"""A hub on loopback with a nano model in it, and an object store in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.serving.weights import PACKAGED
from tests.unit.serving.weights.hub_server import HubServer, running


@pytest.fixture(scope="session")
def hub_process() -> Iterator[HubServer]:
    with running() as hub:
        yield hub


@pytest.fixture
def hub(hub_process: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    """Whole and without faults; asked without a token, with nothing cached by the hub's own client."""
    constants = pytest.importorskip("huggingface_hub.constants")
    # HF_ENDPOINT is read when the client is imported.
    monkeypatch.setattr(constants, "ENDPOINT", hub_process.endpoint)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub_process.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-client"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    hub_process.reset()
    for path in (PACKAGED / "nano-base").iterdir():
        hub_process.files[path.name] = path.read_bytes()
    return hub_process


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path / "store"))
