"""What a stage leaves in the object store: whole, once, and the same again when it is fetched."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy", reason="the extra services is not installed")

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.folder_store import FolderStore
from rl_gym.training.config import resolve
from rl_gym.training.run import Run
from services.trainer.artifacts import fetch_stage, open_artifact, read_artifacts, store_stage

NAME = "20260101-aa"


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "objects")


def sealed(folder: Path, **files: str) -> Path:
    """A run folder on some machine, in which the stage `prepare` has ended with these files."""
    run = Run.create(folder / NAME, resolve("micro"), now=datetime(2026, 1, 1), digests={})
    for name, text in files.items():
        path = run.stage("prepare") / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run.seal("prepare")
    return run.folder / "prepare"


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_fetched_is_what_was_stored(store: FolderStore, tmp_path: Path) -> None:
    made = sealed(tmp_path / "one", rows="1\n", model__weights="2\n")
    found = store_stage(store, NAME, made)
    assert read_artifacts(store, NAME, "prepare") == found
    there = tmp_path / "two" / NAME / "prepare"
    fetch_stage(store, NAME, found, there)
    assert tree(there) == tree(made)
    with open_artifact(store, NAME, "prepare", "model/weights") as stream:
        assert stream.read() == b"2\n"


def test_a_folder_that_differs_becomes_what_is_stored(store: FolderStore, tmp_path: Path) -> None:
    made = sealed(tmp_path / "one", rows="1\n", more="2\n")
    found = store_stage(store, NAME, made)
    before = tree(made)
    (made / "rows").write_text("changed")
    (made / "more").unlink()
    (made / "extra").write_text("not of this stage")
    fetch_stage(store, NAME, found, made)
    assert tree(made) == before


def test_of_two_attempts_the_first_counts_and_nothing_is_left_of_the_other(store: FolderStore, tmp_path: Path) -> None:
    first = store_stage(store, NAME, sealed(tmp_path / "one", rows="first\n"))
    second = store_stage(store, NAME, sealed(tmp_path / "two", rows="second\n"))
    assert second == first
    with open_artifact(store, NAME, "prepare", "rows") as stream:
        assert stream.read() == b"first\n"
    assert len(list(store.list(f"runs/{NAME}/"))) == 2


def test_an_attempt_that_is_cut_off_leaves_nothing_that_counts(
    store: FolderStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(key: str, body: Any) -> str:
        raise InfrastructureError("the store is away")

    with monkeypatch.context() as patch:
        patch.setattr(store, "create", refuse)
        with pytest.raises(InfrastructureError):
            store_stage(store, NAME, sealed(tmp_path / "one", rows="cut off\n"))
    assert read_artifacts(store, NAME, "prepare") is None
    store_stage(store, NAME, sealed(tmp_path / "two", rows="whole\n"))
    assert len(list(store.list(f"runs/{NAME}/"))) == 2


@pytest.mark.parametrize("damage", ["lost", "changed"])
def test_a_damaged_file_is_a_fault_and_the_stage_does_not_stand(
    store: FolderStore, tmp_path: Path, damage: str
) -> None:
    found = store_stage(store, NAME, sealed(tmp_path / "one", rows="1\n"))
    [key] = [key for key in store.list(f"runs/{NAME}/") if key.endswith("/rows")]
    change: Callable[[], Any] = {"lost": lambda: store.delete(key), "changed": lambda: store.put(key, b"0\n")}[damage]
    change()
    there = tmp_path / "two" / NAME / "prepare"
    with pytest.raises(InfrastructureError, match="in the object store"):
        fetch_stage(store, NAME, found, there)
    assert tree(there) == {}


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"files": []}', b'{"files": {"../x": "0"}}', b'{"files": {"x": 1}}'])
def test_a_damaged_manifest_is_one_line(store: FolderStore, body: bytes) -> None:
    store.put(f"runs/{NAME}/prepare/manifest.json", body)
    with pytest.raises(InfrastructureError, match="the manifest of stage prepare is damaged"):
        read_artifacts(store, NAME, "prepare")


def test_a_file_that_no_stage_left_is_not_found(store: FolderStore, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no file 'rows'"):
        open_artifact(store, NAME, "prepare", "rows")
    store_stage(store, NAME, sealed(tmp_path / "one", rows="1\n"))
    with pytest.raises(NotFoundError, match=r"no file '\.\./\.\./run\.json'"):
        open_artifact(store, NAME, "prepare", "../../run.json")
    with pytest.raises(UsageError, match="there is no run"):
        read_artifacts(store, f"{NAME}/..", "prepare")
