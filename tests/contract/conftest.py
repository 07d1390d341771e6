"""Services as they run for real: started once a session, on a free port of this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.processes import running


@pytest.fixture(scope="session")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a verifier."""
    settings = {
        "WORKERS": "1",
        "ENGINES": "builtin",
        "BODY_BYTES": str(4 << 20),
        "SCAN_BODY_BYTES": str(4 << 20),
        "OBJECTS": str(tmp_path_factory.mktemp("objects")),
    }
    with running("verifier", settings) as address:
        yield address


@pytest.fixture(scope="session")
def policy(verifier: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a policy with the embedded engine, and short answers, which that verifier judges."""
    pytest.importorskip("torch", reason="the extra serve is not installed")
    settings = {
        "VERIFIER": verifier,
        "MAX_TOKENS": "48",
        "BATCH_SEQUENCES": "64",
        "BODY_BYTES": str(4 << 20),
        "OBJECTS": str(tmp_path_factory.mktemp("objects")),
        "ADAPTERS": str(tmp_path_factory.mktemp("adapters")),
    }
    with running("policy", settings) as address:
        yield address


@pytest.fixture(scope="session")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a trainer, with a Redis and workers of its own."""
    pytest.importorskip("trl", reason="the extra train is not installed")
    folder = tmp_path_factory.mktemp("trainer")
    settings = {
        "RUNS": str(folder),
        "OBJECTS": str(folder / "objects"),
        "HEARTBEAT_SECONDS": "0.5",
        "RECONCILE_SECONDS": "1",
        "BODY_BYTES": str(4 << 20),
    }
    with running("trainer", settings) as address:
        yield address
