"""A worker as it runs for real, for one queue, with stages that do what their run's configuration asks of them.

A stage appends a line to the file `log` (attempt and process) when it begins, and then does as `config[stage]` says:
`wait` until the file `go` is there, `wait once` in its first attempt only, `break`, `refuse`, or nothing.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

import structlog

from rl_gym.infra.errors import UsageError
from rl_gym.infra.settings import read_settings
from services.trainer.settings import TrainerSettings
from services.trainer.work import Work
from services.trainer.worker import create_worker, serve_queue

STAGES = ("prepare", "sft", "grpo")


def stage(work: Work) -> str:
    folder = Path(work.config["folder"])
    with (folder / "log").open("a") as log:
        log.write(f"{work.lease.stage} {work.lease.token} {os.getpid()} {os.getppid()}\n")
    doing = work.config.get(work.lease.stage)
    if doing == "wait" or (doing == "wait once" and work.lease.token == 1):
        wait(work, folder / "go")
    if doing == "break":
        raise RuntimeError("it broke")
    if doing == "refuse":
        raise UsageError("no such dataset")
    return hashlib.sha256(f"{work.run.id} {work.lease.stage}".encode()).hexdigest()


def wait(work: Work, for_file: Path) -> None:
    while not for_file.exists():
        work.check()
        work.progress(1, 2, reward=0.5)
        time.sleep(0.05)


def main() -> int:
    structlog.configure(processors=[structlog.processors.KeyValueRenderer()])
    settings = read_settings(TrainerSettings)
    app = create_worker(settings, settings.redis.get_secret_value(), dict.fromkeys(STAGES, stage))
    return serve_queue(app, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
