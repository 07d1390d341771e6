"""A worker of the real stages that the evaluation of a poisoned run kills, as a fault of a driver would.

Which runs are poisoned stands in the file that the first argument names.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

from rl_gym.infra.command import run_part
from services.trainer.hosting import hosted_stages
from services.trainer.settings import TrainerSettings
from services.trainer.work import Stage, Work
from services.trainer.worker import STAGES, create_worker, serve_queue

POISONED = "evaluate"


def poisonous(poisoned: Path, stage: Stage, work: Work) -> str:
    if work.run.id in poisoned.read_text().split():
        os.kill(os.getppid(), signal.SIGKILL)
        while True:
            signal.pause()
    return stage(work)


def work(settings: TrainerSettings) -> int:
    stages = dict(hosted_stages(settings))
    stages[POISONED] = partial(poisonous, Path(sys.argv[1]), stages[POISONED])
    return serve_queue(create_worker(settings, settings.redis.get_secret_value(), stages), STAGES)


if __name__ == "__main__":
    sys.exit(run_part(TrainerSettings, work))
