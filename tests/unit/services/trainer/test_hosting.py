"""A worker's own disk after a kill or a crash: what is half there is made again, and never stored."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

pytest.importorskip("tokenizers", reason="the extra serve is not installed")

from rl_gym.infra.folder_store import FolderStore
from rl_gym.training.config import resolve
from rl_gym.wire import Run, RunSpec
from services.trainer.artifacts import read_artifacts
from services.trainer.hosting import hosted_stages
from services.trainer.leases import Lease
from services.trainer.settings import TrainerSettings
from services.trainer.work import StoppedError, StopReason, Work

NAME = "20260101-aa"
IDLE = ["evaluate.policies=['random']"]


class Machine:
    """A worker's disk beside an object store, and what a worker does there."""

    def __init__(self, folder: Path) -> None:
        self.settings = TrainerSettings(runs=folder / "runs", objects=str(folder / "objects"))
        self.folder = folder / "runs" / NAME
        self.store = FolderStore(folder / "objects")

    def do(self, stage: str, *, stop: StopReason | None = None) -> str:
        run = Run(
            id=NAME,
            spec=RunSpec(preset="micro", overrides=IDLE, mode="eval-only"),
            state="running",
            created=datetime(2026, 1, 1, tzinfo=UTC),
            stages=[],
        )
        config = resolve("micro", IDLE, mode="eval-only").model_dump(mode="json")
        work = Work(Lease(NAME, stage, "ana", 1, 45), run, config, lambda model: model)
        if stop:
            work.stop(stop)
        return hosted_stages(self.settings)[stage](work)

    def inputs(self, stage: str) -> dict[str, str]:
        """The digests of the manifests that a stage was made from."""
        found = read_artifacts(self.store, NAME, stage)
        assert found is not None
        inputs: dict[str, str] = json.loads(found.body)["inputs"]
        return inputs


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_write_that_was_cut_off_is_not_stored(machine: Machine) -> None:
    machine.do("prepare")
    cut_off = machine.folder / "evaluate" / ".completions.jsonl.1.partial"
    cut_off.parent.mkdir()
    cut_off.write_text('{"half": ')
    machine.do("evaluate")
    assert read_artifacts(machine.store, NAME, "evaluate") is not None
    assert not any("partial" in key for key in machine.store.list(f"runs/{NAME}/"))


def test_a_stage_that_was_fetched_but_for_its_manifest_is_fetched_to_its_end(machine: Machine) -> None:
    digest = machine.do("prepare")
    (machine.folder / "prepare" / "manifest.json").unlink()
    machine.do("evaluate")
    assert machine.inputs("evaluate") == {"prepare": digest}


def test_a_run_that_was_begun_here_alone_is_stored(machine: Machine) -> None:
    machine.do("prepare")
    document = (machine.folder / "run.json").read_bytes()
    machine.store.delete(f"runs/{NAME}/run.json")
    machine.do("evaluate")
    assert machine.store.get(f"runs/{NAME}/run.json").body == document


def test_a_stage_that_had_ended_here_and_lost_a_file_is_done_again(machine: Machine) -> None:
    digest = machine.do("prepare")
    machine.store.delete(f"runs/{NAME}/prepare/manifest.json")
    # As after a loss of power: the manifest reached the disk, and what it tells of did not.
    (machine.folder / "prepare" / "held_out.jsonl").write_bytes(b"")
    assert machine.do("prepare") == digest


def test_what_is_left_of_a_run_stays_for_the_next_attempt_and_goes_once_it_is_cancelled(machine: Machine) -> None:
    for reason, stays in (("closing", True), ("cancelled", False)):
        with pytest.raises(StoppedError):
            machine.do("prepare", stop=cast(StopReason, reason))
        assert machine.folder.exists() is stays
