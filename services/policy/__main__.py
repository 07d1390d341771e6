"""`python -m services.policy`, from a checkout: the service, on loopback unless told otherwise."""

from __future__ import annotations

import sys

from rl_gym.infra.command import run_service
from services.policy.settings import PolicySettings

if __name__ == "__main__":
    sys.exit(run_service(PolicySettings))
