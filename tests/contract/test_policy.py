"""The policy service with its embedded engine, by the contract of all."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra serve is not installed")
pytest.importorskip("fastapi", reason="the extra services is not installed")

from tests.contract.policy_contract import PolicyContract


class TestEmbedded(PolicyContract):
    models = ("nano", "nano-base")
