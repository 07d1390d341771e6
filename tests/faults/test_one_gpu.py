"""Two workers on one machine with one GPU: never two trainings at once, and each has it with a newer token."""

from __future__ import annotations

from rl_gym.infra.database import Database, open_database
from services.trainer.models import ResourceRow
from services.trainer.repository import resource_name
from services.trainer.submission import GPU
from tests.faults.conftest import Expected
from tests.faults.deployment import Deployment
from tests.faults.outcome import assert_ended_right


def test_two_workers_have_one_gpu(deployment: Deployment, expected: Expected) -> None:
    runs = [deployment.submit("sft"), deployment.submit("sft")]
    deployment.start("control")
    deployment.start()
    deployment.start()
    database = open_database(deployment.settings.database.get_secret_value())
    at_once: set[int] = set()
    leases: list[tuple[int, str]] = []

    def have_ended() -> bool:
        at_once.add(len(deployment.children()))
        lease = lease_of_the_gpu(database, deployment.settings.machine_name)
        if lease is not None and lease not in leases:
            leases.append(lease)
        return all(deployment.has_ended(run)() for run in runs)

    deployment.until(have_ended)
    database.close()
    assert at_once == {0, 1}
    # Each run had it once, the second with a newer token.
    assert [token for token, _ in leases] == [1, 2]
    assert {run for _, run in leases} == {run.id for run in runs}
    held = sorted(
        (event.time, event.state)
        for run in runs
        for event in deployment.told(run)
        if event.stage == "sft" and event.progress is None
    )
    assert [state for _, state in held] == ["running", "done"] * 2
    for run in runs:
        assert_ended_right(deployment, run, expected())


def lease_of_the_gpu(database: Database, machine: str) -> tuple[int, str] | None:
    """The fencing token of a machine's GPU and the run that has it."""
    with database.reading() as session:
        row = session.get(ResourceRow, resource_name(GPU, machine))
        return (row.token, row.run_id) if row is not None and row.run_id is not None else None
