"""Redis is killed with all that it held, while a run trains: no run is lost, and none is tried twice."""

from __future__ import annotations

from tests.contract.trainer.forgetful import forgetful_redis, free_port
from tests.faults.conftest import Deploy, Expected
from tests.faults.outcome import assert_ended_right


def test_redis_is_killed_with_all_that_it_held(deploy: Deploy, expected: Expected) -> None:
    port = free_port()
    with forgetful_redis(port) as server, deploy(f"redis://127.0.0.1:{port}/0") as deployment:
        run = deployment.submit("sft")
        deployment.start()
        deployment.start("control")
        deployment.until(deployment.is_there(run, "sft/metrics.jsonl"))
        told_and_lost = deployment.submit_idle()
        server.kill()
        server.wait()
        never_told = deployment.submit_idle()
        with forgetful_redis(port):
            for one in (run, told_and_lost, never_told):
                deployment.until(deployment.has_ended(one))
                assert set(deployment.attempts(one).values()) == {1}
                assert_ended_right(deployment, one, expected() if one is run else None)
            deployment.end()
