"""A run that is cancelled while it trains: its training ends, and the next run begins."""

from __future__ import annotations

from tests.faults.deployment import Deployment
from tests.faults.outcome import assert_ended_right


def test_a_run_is_cancelled_in_grpo(deployment: Deployment) -> None:
    run = deployment.submit("grpo")
    deployment.start("control")
    deployment.start()
    deployment.until(deployment.is_there(run, "grpo/metrics.jsonl"))
    deployment.delivery.cancel(run.id)
    deployment.until(deployment.has_ended(run, "cancelled"))
    # It is given back by whom its training had ended for.
    assert deployment.children() == []
    now = deployment.delivery.run(run.id)
    assert [(stage.stage, stage.state) for stage in now.stages] == [
        ("prepare", "done"),
        ("sft", "done"),
        ("grpo", "cancelled"),
    ]
    assert [model.name for model in deployment.delivery.models()] == [f"{run.id}-sft"]
    assert not deployment.scratch(run, "").exists()
    following = deployment.submit_idle()
    deployment.until(deployment.has_ended(following))
    assert_ended_right(deployment, following)
