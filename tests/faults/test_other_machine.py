"""kill -9 of a worker whose disk is gone with it: another machine goes on, from the checkpoint in the object store."""

from __future__ import annotations

import json
import os
import shutil
import signal

from rl_gym.infra.object_store import open_store
from rl_gym.wire import Run
from tests.faults.conftest import Expected
from tests.faults.deployment import Deployment
from tests.faults.outcome import assert_ended_right, stored_file

FIRST_CHECKPOINT = ("grpo/checkpoints/checkpoint-1/complete.json", "grpo/metrics.jsonl")


def test_another_machine_goes_on_with_grpo(deployment: Deployment, expected: Expected) -> None:
    run = deployment.submit("grpo")
    deployment.start("control")
    worker = deployment.start()
    deployment.until(deployment.is_there(run, *FIRST_CHECKPOINT))
    child = deployment.child("grpo/job.json")
    assert child is not None
    # However fast it trains, it does not come to its end here.
    os.kill(child, signal.SIGSTOP)
    deployment.until(lambda: stored_step(deployment, run) > 0)
    first_step = deployment.scratch(run, "grpo/metrics.jsonl").read_bytes().splitlines()[0]
    deployment.kill(worker)
    shutil.rmtree(deployment.scratch(run, ""))

    deployment.start()
    deployment.until(deployment.has_ended(run))
    assert deployment.attempts(run) == {"prepare": 1, "sft": 1, "grpo": 2}
    # It was not taken again: what is known of it, its duration too, is of the first machine.
    metrics = stored_file(deployment, run, "grpo", "metrics.jsonl").splitlines()
    assert metrics[0] == first_step
    assert [json.loads(row)["step"] for row in metrics] == [1, 2, 3, 3]
    assert_ended_right(deployment, run, expected())


def stored_step(deployment: Deployment, run: Run) -> int:
    """The step of the checkpoint of GRPO in the object store; 0 where there is none."""
    store, key = open_store(deployment.settings.objects), f"runs/{run.id}/grpo/checkpoint/manifest.json"
    return int(json.loads(store.get(key).body)["step"]) if store.exists(key) else 0
