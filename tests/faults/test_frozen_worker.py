"""A worker that is frozen in the midst of a training: another has its stage, and does not train beside it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.faults.conftest import Expected
from tests.faults.deployment import Deployment
from tests.faults.outcome import assert_ended_right

_LOOKED_SECONDS = 5.0


def test_who_takes_the_stage_of_a_frozen_worker_waits_for_what_that_has_started(
    deployment: Deployment, expected: Expected
) -> None:
    run = deployment.submit("sft")
    deployment.start("control")
    deployment.start()
    deployment.until(lambda: deployment.child("sft/job.json") is not None)
    trains = deployment.child("sft/job.json")
    assert trains is not None
    frozen = [trains, parent(trains)]
    for pid in reversed(frozen):
        os.kill(pid, signal.SIGSTOP)
    deployment.start()
    deployment.until(lambda: deployment.stage(run, "sft").attempt == 2)
    until = time.monotonic() + _LOOKED_SECONDS
    while time.monotonic() < until:
        assert deployment.children() == [trains]
        time.sleep(0.1)
    for pid in frozen:
        os.kill(pid, signal.SIGCONT)
    deployment.until(deployment.has_ended(run))
    # The attempt that had to wait, and none after it.
    assert deployment.attempts(run)["sft"] == 2
    assert_ended_right(deployment, run, expected())


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
