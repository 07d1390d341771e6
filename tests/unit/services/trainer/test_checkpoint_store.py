"""The stored checkpoint of a stage: whole or not taken, of the attempt that may write, and never in training's way."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

pytest.importorskip("sqlalchemy", reason="the extra services is not installed")
pytest.importorskip("tokenizers", reason="the extra serve is not installed")

from rl_gym.infra.errors import InfrastructureError
from rl_gym.infra.folder_store import FolderStore
from rl_gym.training import checkpoints
from rl_gym.training.config import resolve
from rl_gym.training.run import Run
from rl_gym.wire import Run as RunMessage
from rl_gym.wire import RunSpec
from services.trainer import checkpoint_store
from services.trainer.artifacts import store_stage
from services.trainer.checkpoint_store import StoredCheckpoint, keeping_checkpoint, remove_checkpoint
from services.trainer.leases import Lease, LeaseLostError
from services.trainer.work import StoppedError, Work
from tests.contract.trainer.waiting import until

NAME = "20260101-aa"
KEY = f"runs/{NAME}/grpo/checkpoint/"
MANIFEST = f"{KEY}manifest.json"


class Machine:
    """A worker's disk, on which GRPO trains; and the attempt that is at work there."""

    def __init__(self, folder: Path, store: FolderStore, token: int) -> None:
        self.run = Run.create(folder / NAME, resolve("micro"), now=datetime(2026, 1, 1), digests={})
        self.store = store
        self.token = token
        self.stored = StoredCheckpoint(store, self.run, "grpo", token)
        self.folder = self.run.folder / "grpo"
        self.checkpoints = self.folder / "checkpoints"

    def train(self, step: int) -> Path:
        """Leave what a training leaves of the steps up to a checkpoint."""
        checkpoint = self.checkpoints / f"checkpoint-{step}"
        checkpoint.mkdir(parents=True)
        (self.folder / "job.json").write_text('{"inputs": {}}')
        (self.folder / "metrics.jsonl").write_text(rows(step))
        for name in ("adapter_model.safetensors", "optimizer.pt"):
            (checkpoint / name).write_text(f"{name} of {step} by {self.token}")
        checkpoints.mark(checkpoint)
        return checkpoint

    def put(self, step: int) -> None:
        self.stored.put(self.train(step))

    def newest(self) -> int | None:
        """The step that a training here would go on from."""
        found = checkpoints.newest(self.checkpoints, pytest.fail)
        return checkpoints.step_of(found) if found else None

    def work(self) -> Work:
        message = RunMessage(
            id=NAME, spec=RunSpec(preset="micro"), state="running", created=datetime(2026, 1, 1, tzinfo=UTC), stages=[]
        )
        return Work(Lease(NAME, "grpo", "ana", self.token, 45), message, {}, lambda model: model)


def rows(step: int) -> str:
    return "".join(f'{{"stage": "grpo", "step": {number}}}\n' for number in range(1, step + 1))


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def folders(store: FolderStore) -> set[str]:
    """Which checkpoints have something in the store."""
    return {key.removeprefix(KEY).partition("/")[0] for key in store.list(KEY)} - {"manifest.json"}


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "objects")


@pytest.fixture
def one(store: FolderStore, tmp_path: Path) -> Machine:
    return Machine(tmp_path / "one", store, 1)


@pytest.fixture
def two(store: FolderStore, tmp_path: Path) -> Machine:
    """Another machine, with the attempt after the first."""
    return Machine(tmp_path / "two", store, 2)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_store, "_LOOK_SECONDS", 0.01)


def failing(monkeypatch: pytest.MonkeyPatch, store: FolderStore, method: str, name: str) -> None:
    """Have the store fail where it is to write or delete what is called so."""
    real = getattr(store, method)

    def call(key: str, *rest: Any, **options: Any) -> Any:
        if name in key:
            raise InfrastructureError("the store is away")
        return real(key, *rest, **options)

    monkeypatch.setattr(store, method, call)


def test_another_machine_finds_what_one_has_stored(one: Machine, two: Machine) -> None:
    assert one.stored.take() == 0
    one.put(4)
    # The training has gone on.
    (one.folder / "metrics.jsonl").write_text(rows(5))
    assert two.stored.take() == 4
    assert two.newest() == 4
    assert tree(two.checkpoints) == tree(one.checkpoints)
    assert (two.folder / "metrics.jsonl").read_text() == rows(4)
    assert (two.folder / "job.json").read_bytes() == (one.folder / "job.json").read_bytes()


def test_the_one_before_is_removed_after_the_new_one_stands(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.put(2)
    with monkeypatch.context() as patch:
        failing(patch, one.store, "delete", "1-2/")
        with pytest.raises(InfrastructureError):
            one.put(4)
    assert folders(one.store) == {"1-2", "1-4"}
    one.put(6)
    assert folders(one.store) == {"1-6"}
    assert two.stored.take() == 6
    two.put(8)
    assert folders(one.store) == {"2-8"}


@pytest.mark.parametrize("cut_off", ["metrics.jsonl", "optimizer.pt", "complete.json", "manifest.json"])
def test_a_half_upload_is_never_taken(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch, cut_off: str
) -> None:
    one.put(2)
    with monkeypatch.context() as patch:
        for method in ("put", "create", "replace"):
            failing(patch, one.store, method, cut_off)
        with pytest.raises(InfrastructureError, match="the store is away"):
            one.put(4)
    assert two.stored.take() == 2
    assert two.newest() == 2


def test_one_that_is_damaged_here_is_not_stored(one: Machine, two: Machine) -> None:
    checkpoint = one.train(2)
    (checkpoint / "optimizer.pt").write_text("other")
    with pytest.raises(InfrastructureError, match=r"optimizer\.pt is damaged$"):
        one.stored.put(checkpoint)
    assert two.stored.take() == 0


@pytest.mark.parametrize("damage", ["lost", "changed"])
def test_a_damaged_one_is_refused_with_a_warning_and_the_training_begins_anew(
    one: Machine, two: Machine, quick: None, damage: str
) -> None:
    one.put(4)
    key = f"{KEY}1-4/checkpoint-4/optimizer.pt"
    change: dict[str, Callable[[], Any]] = {
        "lost": lambda: one.store.delete(key),
        "changed": lambda: one.store.put(key, b"other"),
    }
    change[damage]()
    with capture_logs() as logs, keeping_checkpoint(two.store, two.run, "grpo", two.work()):
        assert two.newest() is None
        assert tree(two.folder) == {}
        # What it trains then counts, although it is not yet as far.
        two.train(2)
        until(lambda: folders(two.store) == {"2-2"})
    [warning] = [log for log in logs if log["log_level"] == "warning"]
    assert warning["event"] == "no stored checkpoint is gone on with"
    assert f"{key} is" in warning["reason"]
    assert "in the object store" in warning["reason"]


@pytest.mark.parametrize("body", [b"{", b'{"files": {"../x": "0"}}', b'{"token": 1, "folder": "../1-2"}'])
def test_a_damaged_manifest_is_passed_over_and_written_anew(
    one: Machine, two: Machine, store: FolderStore, body: bytes
) -> None:
    store.put(MANIFEST, body)
    with capture_logs() as logs:
        assert one.stored.take() == 0
    assert [log["reason"] for log in logs] == [f"{MANIFEST} is damaged in the object store"]
    one.put(2)
    assert two.stored.take() == 2


def test_a_stale_attempt_may_not_write(one: Machine, two: Machine) -> None:
    one.put(2)
    assert two.stored.take() == 2
    for refused in (lambda: one.put(4), one.stored.take):
        with pytest.raises(LeaseLostError, match="attempt 2 has begun after 1"):
            refused()
    stands = json.loads(one.store.get(MANIFEST).body)
    assert (stands["token"], stands["step"], stands["folder"]) == (2, 2, "1-2")


def test_an_attempt_that_becomes_stale_in_its_upload_may_not_write(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.put(2)
    replace = one.store.replace

    def late(key: str, body: Any, etag: str) -> str:
        monkeypatch.setattr(one.store, "replace", replace)
        assert two.stored.take() == 2
        return replace(key, body, etag)

    monkeypatch.setattr(one.store, "replace", late)
    with pytest.raises(LeaseLostError):
        one.put(4)
    # What it had taken is still there.
    assert two.newest() == 2
    assert "1-2" in folders(one.store)


def test_nothing_is_left_of_one_that_comes_after_the_stage_has_ended(one: Machine, two: Machine) -> None:
    one.put(2)
    (two.folder / "model").mkdir(parents=True)
    two.run.seal("grpo")
    store_stage(two.store, NAME, two.folder)
    assert folders(one.store) == set()
    with pytest.raises(LeaseLostError, match="another attempt has ended it"):
        one.put(4)
    assert list(one.store.list(KEY)) == []


def test_what_is_here_stays_where_it_is_as_new(one: Machine, two: Machine) -> None:
    one.put(2)
    two.train(4)
    assert two.stored.take() == 2
    assert (two.newest(), (two.folder / "metrics.jsonl").read_text()) == (4, rows(4))


def test_one_here_that_is_older_or_damaged_gives_way(one: Machine, two: Machine) -> None:
    one.put(4)
    two.train(2)
    (two.train(4) / "optimizer.pt").unlink()
    assert two.stored.take() == 4
    assert two.newest() == 4
    assert (two.checkpoints / "checkpoint-4" / "optimizer.pt").read_text() == "optimizer.pt of 4 by 1"


def test_one_that_is_to_stop_stops_in_mid_transfer(one: Machine, two: Machine) -> None:
    one.put(2)
    for machine in (one, two):
        machine.stored = StoredCheckpoint(one.store, machine.run, "grpo", machine.token, lambda: True)
        with pytest.raises(StoppedError):
            machine.put(4)
    with pytest.raises(StoppedError):
        two.stored.take()
    assert json.loads(one.store.get(MANIFEST).body)["step"] == 2


def test_each_is_stored_once_while_the_stage_trains(one: Machine, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    put = one.store.put

    def counting(key: str, body: Any) -> str:
        written.append(key)
        return put(key, body)

    monkeypatch.setattr(one.store, "put", counting)
    with keeping_checkpoint(one.store, one.run, "grpo", one.work()):
        one.train(2)
        until(lambda: folders(one.store) == {"1-2"})
        one.train(4)
        until(lambda: folders(one.store) == {"1-4"})
    assert len([key for key in written if key.endswith("optimizer.pt")]) == 2
    assert "checkpoints" not in {thread.name for thread in threading.enumerate()}
    one.train(6)
    assert folders(one.store) == {"1-4"}


def test_one_waits_for_what_was_logged_up_to_it(one: Machine) -> None:
    one.train(4)
    assert one.stored.newest_after(0) == one.checkpoints / "checkpoint-4"
    assert one.stored.newest_after(4) is None
    for text in ("", rows(3), rows(3) + '{"stage": "grpo", "step": 4', "no JSON\n"):
        (one.folder / "metrics.jsonl").write_text(text)
        assert one.stored.newest_after(0) is None


def test_a_store_that_fails_is_told_of_and_breaks_nothing(
    one: Machine, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with capture_logs() as logs:
        with monkeypatch.context() as patch:
            for method in ("get", "put", "create"):
                failing(patch, one.store, method, KEY)
            with keeping_checkpoint(one.store, one.run, "grpo", one.work()):
                one.train(2)
                until(lambda: "a checkpoint is not stored" in [log["event"] for log in logs])
        with monkeypatch.context() as patch:
            patch.setattr(one.store, "list", lambda _: iter([MANIFEST]))
            failing(patch, one.store, "delete", KEY)
            remove_checkpoint(one.store, NAME, "grpo")
    assert [log["event"] for log in logs] == [
        "no stored checkpoint is gone on with",
        "a checkpoint is not stored",
        "a checkpoint stays in the object store",
    ]


def test_a_stage_that_trains_nothing_leaves_nothing(one: Machine) -> None:
    with keeping_checkpoint(one.store, one.run, "evaluate", one.work()):
        pass
    assert list(one.store.list("")) == []
