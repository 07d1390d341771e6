"""A run that kills every worker: after its attempts it waits for a person, and is in nobody's way."""

from __future__ import annotations

from pathlib import Path

from tests.faults.conftest import Deploy
from tests.faults.outcome import assert_ended_right


def test_a_run_that_kills_its_workers_is_dead_in_the_end_and_in_nobodys_way(deploy: Deploy, tmp_path: Path) -> None:
    poisoned = tmp_path / "poisoned"
    program = ("-m", "tests.faults.poisoned_worker", str(poisoned))
    with deploy(attempts=2, lease_seconds=4) as deployment:
        poisonous, other = deployment.submit_idle(), deployment.submit_idle()
        poisoned.write_text(poisonous.id)
        deployment.start("control")
        worker = deployment.start(program=program)
        killed = 0

        def both_have_ended() -> bool:
            nonlocal worker, killed
            if worker.poll() is not None:
                killed += 1
                worker = deployment.start(program=program)
            return deployment.has_ended(poisonous, "dead")() and deployment.has_ended(other)()

        deployment.until(both_have_ended)
        assert killed == 2
        assert [run.id for run in deployment.delivery.runs(state="dead")] == [poisonous.id]
        stage = deployment.stage(poisonous, "evaluate")
        assert (stage.state, stage.attempt) == ("dead", 2)
        assert stage.error is not None
        assert stage.error.detail.startswith("its worker fell silent: ")
        assert_ended_right(deployment, other)
        poisoned.write_text("")
        deployment.delivery.retry(poisonous.id)
        deployment.until(deployment.has_ended(poisonous))
        assert deployment.delivery.runs(state="dead") == []
        assert_ended_right(deployment, poisonous)
