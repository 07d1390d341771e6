"""A verifier of this service's own, for when no address of one is given: a process on loopback that ends with it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from rl_gym.infra.kept_process import KeptProcess
from services.policy.settings import PolicySettings

__all__ = ["VerifierProcess"]

_ROOT = Path(__file__).resolve().parents[2]


class VerifierProcess(KeptProcess):
    """Runs `python -m services.verifier` on a free port, whose `address` is known from the beginning."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        ours = {
            **{name: value for name, value in environment.items() if not _is_ours(name)},
            "RL_GYM_VERIFIER_HOST": "127.0.0.1",
            "RL_GYM_VERIFIER_PORT": str(port),
            # It listens on loopback alone, and tells nobody more than `rl-gym scan` would.
            "RL_GYM_VERIFIER_PRINCIPAL_KEYS": "",
            "RL_GYM_VERIFIER_ENGINES": "builtin",
        }
        super().__init__("verifier", [sys.executable, "-m", "services.verifier"], ours, folder=str(_ROOT))


def _is_ours(name: str) -> bool:
    """Whether a variable is of this service alone, or a key: a process that reads what strangers write has none."""
    upper = name.upper()
    return upper.startswith(PolicySettings.prefix()) or (upper.startswith("RL_GYM_") and upper.endswith("_KEY"))
