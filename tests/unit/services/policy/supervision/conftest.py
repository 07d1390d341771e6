"""A stand-in for a Python with vLLM."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="the extra services is not installed")

from tests.unit.services.policy.supervision.engines import PROGRAM, Fake


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\n{PROGRAM.read_text()}")
    python.chmod(0o755)
    folder = tmp_path / "starts"
    folder.mkdir()
    return Fake(python, folder)
