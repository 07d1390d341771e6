"""Submits the run of the tests under a key, once the file that the first argument names is there, and prints its id."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rl_gym.infra.queue import make_app
from rl_gym.infra.settings import read_settings
from rl_gym.training.config import resolve
from rl_gym.wire import RunSpec
from services.trainer.settings import TrainerSettings
from services.trainer.submission import stage_plan
from services.trainer.worker import create_delivery
from tests.faults.deployment import IDLE
from tests.faults.undisturbed import PRESET

KEY = "nightly"


def main() -> None:
    settings = read_settings(TrainerSettings)
    app = make_app("test", settings.redis.get_secret_value(), longest_seconds=60)
    config = resolve(PRESET, IDLE, mode="eval-only")
    spec = RunSpec(preset=PRESET, overrides=list(IDLE), mode="eval-only", idempotency_key=KEY)
    delivery = create_delivery(settings, app)
    print("ready", flush=True)
    while not Path(sys.argv[1]).exists():
        time.sleep(0.001)
    print(delivery.submit(spec, config.model_dump(mode="json"), stage_plan(config)).id)


if __name__ == "__main__":
    main()
