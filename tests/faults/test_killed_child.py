"""kill -9 of the process that trains: the attempt failed, with its last lines, and the next one ends right."""

from __future__ import annotations

import os
import signal

from tests.faults.conftest import Expected
from tests.faults.deployment import Deployment
from tests.faults.outcome import assert_ended_right


def test_the_training_child_is_killed(deployment: Deployment, expected: Expected) -> None:
    run = deployment.submit("sft")
    deployment.start("control")
    deployment.start()
    deployment.until(deployment.is_there(run, "sft/metrics.jsonl"))
    child = deployment.child("sft/job.json")
    assert child is not None
    os.kill(child, signal.SIGKILL)
    deployment.until(deployment.has_ended(run))
    (told,) = deployment.failures(run, "sft")
    assert told.startswith("attempt 1: sft: its process ended with SIGKILL (if memory ran out: ")
    assert "; its last lines: " in told
    assert deployment.attempts(run) == {"prepare": 1, "sft": 2}
    assert_ended_right(deployment, run, expected())
