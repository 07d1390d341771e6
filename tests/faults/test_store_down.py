"""The object store is down when a stage has ended: what was trained is stored later, and not trained again."""

from __future__ import annotations

from tests.faults.conftest import Expected
from tests.faults.deployment import Deployment
from tests.faults.outcome import assert_ended_right, stored_file
from tests.unit.infra.s3_server import S3Server


def test_the_object_store_is_down_for_a_while(deployment: Deployment, s3: S3Server, expected: Expected) -> None:
    run = deployment.submit("sft")
    deployment.start("control")
    deployment.start()
    deployment.until(deployment.is_there(run, "sft/metrics.jsonl"))
    s3.stop()
    try:
        # Of two the first could not store what it had trained, and the second not see what there was.
        deployment.until(lambda: len(deployment.failures(run, "sft")) >= 2)
        trained = deployment.scratch(run, "sft/metrics.jsonl").read_bytes()
    finally:
        s3.start()
    deployment.until(deployment.has_ended(run))
    assert all("object store s3://" in told and "cannot be reached" in told for told in deployment.failures(run, "sft"))
    # Nothing was trained again.
    assert stored_file(deployment, run, "sft", "metrics.jsonl") == trained
    assert_ended_right(deployment, run, expected())
