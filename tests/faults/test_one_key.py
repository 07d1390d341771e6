"""One key, from two processes at the same moment and once more later: one run."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.faults.deployment import Deployment
from tests.faults.outcome import assert_ended_right


def test_one_key_from_two_processes_at_once_is_one_run(deployment: Deployment, tmp_path: Path) -> None:
    go = tmp_path / "go"
    submitters = [
        deployment.start(str(go), program=("-m", "tests.faults.submitter"), output=subprocess.PIPE) for _ in range(2)
    ]
    for process in submitters:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    go.touch()
    made = {process.communicate()[0].decode().strip() for process in submitters}
    assert [process.returncode for process in submitters] == [0, 0]
    (run,) = deployment.delivery.runs()
    assert made == {run.id}
    deployment.start("control")
    deployment.start()
    deployment.until(deployment.has_ended(run))
    again = deployment.start(str(go), program=("-m", "tests.faults.submitter"), output=subprocess.PIPE)
    assert again.communicate()[0].decode().split() == ["ready", run.id]
    assert [run.state for run in deployment.delivery.runs()] == ["done"]
    assert_ended_right(deployment, run)
