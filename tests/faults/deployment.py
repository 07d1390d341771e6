"""The trainer as it is deployed, on one machine: its real programs, a database, a Redis, an S3 and a disk for scratch.

What a test waits for it looks for in the database, in files and among processes, and never for a time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from rl_gym.infra.queue import make_app
from rl_gym.infra.tether import tethered
from rl_gym.training.config import resolve
from rl_gym.wire import Run, RunEvent, RunSpec, StageStatus
from services.trainer.settings import TrainerSettings
from services.trainer.submission import stage_plan
from services.trainer.worker import create_delivery, migrate_database
from tests.contract.trainer.waiting import until
from tests.faults.undisturbed import OVERRIDES, PRESET

__all__ = ["IDLE", "Deployment"]

ROOT = Path(__file__).resolve().parents[2]
IDLE = ("evaluate.policies=['random']",)
"""For a run of mode eval-only, by which no model is run."""

PROGRAM = ("-m", "services.trainer")
_PATIENCE_SECONDS = 1_800
_END_SECONDS = 300


class Deployment:
    """Where runs are submitted, and the workers that a test starts and kills. All of it ends with `end`."""

    def __init__(self, folder: Path, redis: str, objects: str, **settings: Any) -> None:
        self.folder = folder
        values: dict[str, Any] = {
            "database": SecretStr(f"sqlite:///{folder / 'trainer.sqlite'}"),
            "redis": SecretStr(redis),
            "objects": objects,
            "runs": folder / "runs",
            "lease_seconds": 8,
            "heartbeat_seconds": 0.5,
            "reconcile_seconds": 1,
            "resend_seconds": 3,
            "retry_seconds": 0.5,
            "attempts": 5,
            "log_level": "info",
        }
        self.settings = TrainerSettings(**values | settings)
        migrate_database(self.settings)
        self.delivery = create_delivery(self.settings, make_app("test", redis, longest_seconds=60))
        self._started: list[subprocess.Popen[bytes]] = []

    # Runs.

    def submit(self, until: str | None = None, *, key: str | None = None) -> Run:
        """Submit the run that `undisturbed` makes too; `until` is the last stage that is asked for."""
        config = resolve(PRESET, OVERRIDES)
        plan = list(stage_plan(config))
        names = [stage.name for stage in plan]
        spec = RunSpec(preset=PRESET, overrides=list(OVERRIDES), idempotency_key=key)
        return self.delivery.submit(
            spec, config.model_dump(mode="json"), plan[: names.index(until) + 1] if until else plan
        )

    def submit_idle(self) -> Run:
        """Submit a run that no model works for."""
        config = resolve(PRESET, IDLE, mode="eval-only")
        spec = RunSpec(preset=PRESET, overrides=list(IDLE), mode="eval-only")
        return self.delivery.submit(spec, config.model_dump(mode="json"), stage_plan(config))

    def stage(self, run: Run, name: str) -> StageStatus:
        return next(stage for stage in self.delivery.run(run.id).stages if stage.stage == name)

    def attempts(self, run: Run) -> dict[str, int]:
        """How often each stage was begun."""
        return {stage.stage: stage.attempt for stage in self.delivery.run(run.id).stages}

    def failures(self, run: Run, stage: str) -> list[str]:
        """What was told of each attempt at a stage that failed."""
        return [event.detail for event in self.told(run) if (event.stage, event.state) == (stage, "failed")]

    def told(self, run: Run) -> list[RunEvent]:
        return self.delivery.events(run.id)

    def has_ended(self, run: Run, state: str = "done") -> Callable[[], bool]:
        return lambda: self.delivery.run(run.id).state == state

    # Its disk.

    def scratch(self, run: Run, name: str) -> Path:
        """Where the worker keeps a file of a run."""
        return self.settings.runs / run.id / name

    def is_there(self, run: Run, *names: str) -> Callable[[], bool]:
        """Whether the worker has left these files, and something in them."""
        paths = [self.scratch(run, name) for name in names]
        return lambda: all(path.exists() and path.stat().st_size > 0 for path in paths)

    # Processes.

    def start(
        self, *arguments: str, program: Sequence[str] = PROGRAM, output: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a part of the trainer, `work` where no other is named; what it prints goes to `workers.log`."""
        values = {name: getattr(self.settings, name) for name in self.settings.model_fields_set}
        plain = {n: v.get_secret_value() if isinstance(v, SecretStr) else str(v) for n, v in values.items()}
        environment = os.environ | {f"RL_GYM_TRAINER_{name.upper()}": value for name, value in plain.items()}
        environment["PYTHONPATH"] = os.pathsep.join((str(ROOT / "shared"), str(ROOT)))
        if program is PROGRAM and not arguments:
            arguments = ("work",)
        command = tethered([sys.executable, "-W", "ignore", *program, *arguments])
        with (self.folder / "workers.log").open("ab") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output or log, stderr=log)
        self._started.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """kill -9; nothing that it had started may outlive it."""
        below = descendants(process.pid)
        process.kill()
        process.wait()
        until(lambda: not any(map(_lives, below)))

    def child(self, job: str) -> int | None:
        """The process that does a job, named by where it is described: `sft/job.json`."""
        return next((pid for pid in self.processes() if job in _command(pid)), None)

    def children(self) -> list[int]:
        """The processes that train or generate now."""
        return [pid for pid in self.processes() if "rl_gym.training.child" in _command(pid)]

    def processes(self) -> list[int]:
        """Every process that belongs to this deployment: its folder stands in their environment."""
        mark = os.fsencode(f"RL_GYM_TRAINER_RUNS={self.settings.runs}\0")
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            # Processes end while one looks.
            with suppress(OSError):
                if mark in path.read_bytes():
                    found.append(int(path.parent.name))
        return found

    def until(self, happened: Callable[[], bool]) -> None:
        """Wait for what comes of a training: imports alone take their time on a machine with other work."""
        until(happened, _PATIENCE_SECONDS)

    def end(self) -> None:
        """Tell what runs to end, and see that it does, and that nothing is left of it."""
        running = [process for process in self._started if process.poll() is None]
        for process in running:
            process.terminate()
        try:
            # One that has only just begun knows no other end yet.
            assert {process.wait(_END_SECONDS) for process in running} <= {0, -signal.SIGTERM}
            until(lambda: self.processes() == [])
        finally:
            for process in running:
                process.kill()
                process.wait()
            self.delivery.close()


def descendants(pid: int) -> list[int]:
    """Every process below a process."""
    with suppress(OSError):
        below = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        # A training child is that of a thread.
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                below += [int(child) for child in path.read_text().split()]
        found = set(below)
        return [*found, *(one for child in found for one in descendants(child))]
    return []


def _lives(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    return ""
