"""A worker's own disk after a kill or a crash: what is half there is made again, and never stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import cast

import pytest

pytest.importorskip("tokenizers", reason="the extra serve is not installed")

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.folder_store import FolderStore
from rl_gym.training.config import resolve
from rl_gym.training.incumbent import Incumbent, write_incumbent
from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.run import SCRATCH
from rl_gym.training.run import Run as Folder
from rl_gym.wire import Model, Run, RunSpec
from rl_gym.wire.run import RunMode
from services.trainer import hosting
from services.trainer.artifacts import open_artifact, read_artifacts, store_stage
from services.trainer.hosting import hosted_stages
from services.trainer.leases import Lease
from services.trainer.settings import TrainerSettings
from services.trainer.work import StoppedError, StopReason, Work

NAME = "20260101-aa"
IDLE = ["evaluate.policies=['random']"]
BASE = "ba5e" * 16
RAFT = ("raft.steps=1", "raft.batch_size=1", "raft.learning_rate=1e-3")
REPAIR = ("repair.steps=1", "repair.batch_size=1", "repair.learning_rate=1e-3")
DRIFT = ("environment.options.ruleset=base+drift",)
TRAFFIC = ("flywheel.traffic=traffic/mix.jsonl",)


class Machine:
    """A worker's disk beside an object store, and what a worker does there."""

    def __init__(self, folder: Path) -> None:
        self.settings = TrainerSettings(runs=folder / "runs", objects=str(folder / "objects"))
        self.folder = folder / "runs" / NAME
        self.store = FolderStore(folder / "objects")
        self.config = resolve("micro", IDLE, mode="eval-only")
        self.models: list[Model] = []

    def do(self, stage: str, *, stop: StopReason | None = None) -> str:
        run = Run(
            id=NAME,
            spec=RunSpec(preset="micro", overrides=IDLE, mode="eval-only"),
            state="running",
            created=datetime(2026, 1, 1, tzinfo=UTC),
            stages=[],
        )
        work = Work(Lease(NAME, stage, "ana", 1, 45), run, self.config.model_dump(mode="json"), self._keep)
        if stop:
            work.stop(stop)
        return hosted_stages(self.settings)[stage](work)

    def _keep(self, model: Model) -> Model:
        self.models.append(model)
        return model

    def has_done(
        self, last: str, mode: RunMode = "pipeline", *overrides: str, incumbent: Incumbent | None = None
    ) -> None:
        """Let a run have ended its stages up to one, each with a model and a job, as another worker left them."""
        self.config = resolve("micro", overrides, mode=mode)
        run = Folder.create(self.folder, self.config, now=datetime(2026, 1, 1), digests={"base": BASE})
        self.store.create(f"runs/{NAME}/run.json", (self.folder / "run.json").read_bytes())
        for stage in run.stages[: run.stages.index(last) + 1]:
            (run.stage(stage) / "job.json").write_text(json.dumps({"inputs": {"data": data_of(stage)}}))
            run.stage(f"{stage}/model")
            (run.folder / stage / "model" / "weights").write_text(stage)
            if stage == "prepare" and incumbent is not None:
                write_incumbent(run, incumbent)
            run.seal(stage)
            store_stage(self.store, NAME, run.folder / stage)

    def inputs(self, stage: str) -> dict[str, str]:
        """The digests of the manifests that a stage was made from."""
        found = read_artifacts(self.store, NAME, stage)
        assert found is not None
        inputs: dict[str, str] = json.loads(found.body)["inputs"]
        return inputs


def data_of(stage: str) -> str:
    return sha256(stage.encode()).hexdigest()


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
        # So that it goes, too, where nobody comes back to it.
        assert (machine.folder / SCRATCH).exists() is stays


def test_a_run_that_this_machine_cannot_do_is_refused_before_anything_of_it_is_here(machine: Machine) -> None:
    machine.config = resolve("micro", [*IDLE, "machine.device=gpu"], mode="eval-only")
    with pytest.raises(UsageError, match="gpu: no GPU that this machine's torch can use"):
        machine.do("prepare")
    assert not machine.folder.exists()
    assert list(machine.store.list(f"runs/{NAME}/")) == []


class Printing:
    """A stage whose processes print something, and which may fail then."""

    def __init__(self, printed: str, *, fails: bool = False) -> None:
        self.printed = printed
        self.fails = fails

    def __call__(self, run: Folder, name: str, means: Means, progress: Progress) -> None:
        with run.log.open("a") as log:
            log.write(self.printed)
        if self.fails:
            raise InfrastructureError(f"{name}: its process ended with SIGKILL; see {run.log}")
        run.stage(name)
        run.seal(name)


def log_of(machine: Machine, stage: str) -> str:
    with open_artifact(machine.store, NAME, stage, "log.txt") as stream:
        return stream.read().decode()


def test_what_a_stage_printed_can_be_fetched_of_a_failure_and_of_a_success(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "perform_stage", Printing("Traceback: no memory\n", fails=True))
    with pytest.raises(InfrastructureError) as raised:
        machine.do("prepare")
    assert str(raised.value) == f"prepare: its process ended with SIGKILL; see `rl-gym runs log {NAME} prepare`"
    assert log_of(machine, "prepare") == "Traceback: no memory\n"
    assert read_artifacts(machine.store, NAME, "prepare") is None
    monkeypatch.setattr(hosting, "perform_stage", Printing("step 1\n"))
    machine.do("prepare")
    assert log_of(machine, "prepare") == "step 1\n"
    found = read_artifacts(machine.store, NAME, "prepare")
    assert found is not None
    assert "log.txt" not in found.files


def test_of_what_is_printed_the_end_is_kept_and_no_secret(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "s3cr3t-word")
    printed = "".join(f"{number} s3cr3t-word at https://ana:word@host/\n" for number in range(10_000))
    monkeypatch.setattr(hosting, "perform_stage", Printing(printed))
    machine.do("prepare")
    kept = log_of(machine, "prepare")
    assert len(kept) <= 256 << 10
    assert kept.endswith("9999 *** at https://***@host/\n")
    assert "s3cr3t" not in kept
    assert "word" not in kept
    assert kept.splitlines()[0].split()[1:] == ["***", "at", "https://***@host/"]


def test_a_store_that_takes_no_log_costs_no_stage(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise InfrastructureError("the store is away")

    monkeypatch.setattr(hosting, "perform_stage", Printing("step 1\n"))
    monkeypatch.setattr("services.trainer.stage_log.store_log", refuse)
    machine.do("prepare")
    with pytest.raises(NotFoundError, match="no attempt has ended yet of which a log is kept"):
        log_of(machine, "prepare")


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("nano-base", "nano-base"),
        ("hub:Qwen/Qwen2.5-0.5B@main", "hub:Qwen/Qwen2.5-0.5B@main"),
        ("/models/my base", "models/my-base"),
        ("./x", "x"),
        ("~/x", "x"),
        ("../модель", "unnamed"),
        (f"/{'long/' * 100}", ("long/" * 100)[:200]),
    ],
)
def test_a_model_of_any_base_is_told_with_what_tells_the_base_from_others(
    machine: Machine, base: str, name: str
) -> None:
    machine.has_done("sft", "pipeline", f"model.base={base}")
    machine.do("sft")
    [model] = machine.models
    assert (model.base, model.base_digest, model.parent) == (name, BASE, None)


@pytest.mark.parametrize(
    ("stage", "mode", "overrides", "parent"),
    [
        ("sft", "pipeline", (), None),
        ("raft", "pipeline", RAFT, f"{NAME}-sft"),
        ("grpo", "pipeline", RAFT, f"{NAME}-raft"),
        ("repair", "repair", REPAIR, None),
        ("update", "drift", DRIFT, None),
    ],
)
def test_the_lineage_of_a_model_is_its_data_and_the_model_before_it(
    machine: Machine, stage: str, mode: RunMode, overrides: Sequence[str], parent: str | None
) -> None:
    machine.has_done(stage, mode, *overrides)
    machine.do(stage)
    [model] = machine.models
    assert (model.name, model.parent, model.data_digest) == (f"{NAME}-{stage}", parent, data_of(stage))


@pytest.mark.parametrize(
    ("incumbent", "parent"),
    [
        (Incumbent("20251231-bb/update", "1" * 64, 3, "promotion 3 of run 20251231-bb"), "20251231-bb-update"),
        (Incumbent("nano", "1" * 64, None, "no model is promoted: the base of the run, nano"), None),
    ],
)
def test_a_flywheel_goes_on_from_what_was_promoted(machine: Machine, incumbent: Incumbent, parent: str | None) -> None:
    machine.has_done("update", "flywheel", *TRAFFIC, incumbent=incumbent)
    machine.do("update")
    assert [model.parent for model in machine.models] == [parent]


def test_a_stored_checkpoint_goes_once_its_stage_has_ended_or_its_run_is_cancelled(machine: Machine) -> None:
    machine.has_done("sft")
    # As after a kill of the attempt that ended it, before it had removed this.
    for stage in ("sft", "grpo"):
        machine.store.put(f"runs/{NAME}/{stage}/checkpoint/1-2/job.json", b"{}")
    machine.do("sft")
    assert list(machine.store.list(f"runs/{NAME}/sft/checkpoint/")) == []
    with pytest.raises(StoppedError):
        machine.do("grpo", stop="closing")
    assert list(machine.store.list(f"runs/{NAME}/grpo/checkpoint/")) != []
    with pytest.raises(StoppedError):
        machine.do("grpo", stop="cancelled")
    assert list(machine.store.list(f"runs/{NAME}/grpo/checkpoint/")) == []
