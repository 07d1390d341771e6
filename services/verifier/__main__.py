"""`python -m services.verifier`, from a checkout: the service, on loopback unless told otherwise."""

from __future__ import annotations

import sys

from rl_gym.infra.command import run_service
from services.verifier.settings import VerifierSettings

if __name__ == "__main__":
    sys.exit(run_service(VerifierSettings))
