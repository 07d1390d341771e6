"""kill -9 of a worker, in each stage that computes, and SIGTERM: another goes on, and the models are the same."""

from __future__ import annotations

import signal

from rl_gym.wire import Run
from tests.faults.conftest import Expected
from tests.faults.deployment import Deployment
from tests.faults.outcome import assert_ended_right, stored_file

FIRST_CHECKPOINT = ("grpo/checkpoints/checkpoint-1/complete.json", "grpo/metrics.jsonl")
CUT_OFF = b'{"half": '


def test_a_worker_is_killed_in_sft_in_grpo_and_in_evaluate(deployment: Deployment, expected: Expected) -> None:
    run = deployment.submit()
    deployment.start("control")

    worker = deployment.start()
    deployment.until(deployment.is_there(run, "sft/metrics.jsonl"))
    deployment.kill(worker)
    cut_off(deployment, run, "sft/.metrics.jsonl.1.partial")

    worker = deployment.start()
    deployment.until(deployment.is_there(run, *FIRST_CHECKPOINT))
    first_step = metrics(deployment, run)[0]
    deployment.kill(worker)
    with deployment.scratch(run, "grpo/metrics.jsonl").open("ab") as file:
        file.write(CUT_OFF)

    worker = deployment.start()
    deployment.until(deployment.is_there(run, "evaluate/sft.jsonl"))
    deployment.kill(worker)
    cut_off(deployment, run, "evaluate/.grpo.jsonl.1.partial")

    deployment.start()
    deployment.until(deployment.has_ended(run))
    tried = {"prepare": 1, "sft": 2, "grpo": 2, "evaluate": 2, "audit": 1, "gate": 1, "promote": 1}
    assert deployment.attempts(run) == tried
    # It went on behind the checkpoint: what is known of the first step, its duration too, is of the first attempt.
    assert stored_file(deployment, run, "grpo", "metrics.jsonl").splitlines()[0] == first_step
    assert_ended_right(deployment, run, expected())
    assert not deployment.scratch(run, "").exists()


def test_a_worker_that_is_told_to_end_gives_grpo_back(deployment: Deployment, expected: Expected) -> None:
    run = deployment.submit("grpo")
    deployment.start("control")
    worker = deployment.start()
    deployment.until(deployment.is_there(run, *FIRST_CHECKPOINT))
    first_step = metrics(deployment, run)[0]
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(300) == 0
    assert deployment.children() == []
    assert deployment.stage(run, "grpo").state == "waiting"
    deployment.start()
    deployment.until(deployment.has_ended(run))
    assert deployment.attempts(run) == {"prepare": 1, "sft": 1, "grpo": 2}
    assert deployment.failures(run, "grpo") == []
    assert stored_file(deployment, run, "grpo", "metrics.jsonl").splitlines()[0] == first_step
    assert_ended_right(deployment, run, expected())


def metrics(deployment: Deployment, run: Run) -> list[bytes]:
    return deployment.scratch(run, "grpo/metrics.jsonl").read_bytes().splitlines()


def cut_off(deployment: Deployment, run: Run, name: str) -> None:
    """Leave what a kill in the middle of a write leaves."""
    deployment.scratch(run, name).write_bytes(CUT_OFF)
