"""What a source stands for once it was fetched: from here, from the store, or fetched anew."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.infra.object_store import ObjectStore
from rl_gym.serving.weights import PACKAGED
from rl_gym.serving.weights.stored import stored

DIGEST = tree_digest(PACKAGED / "nano")


class Origin:
    """Where a model is fetched from: how often, and at which revision it was asked for."""

    def __init__(self, model: str = "nano", before: Callable[[], object] = lambda: None) -> None:
        self.model, self.before = model, before
        self.asked: list[str] = []

    def __call__(self, folder: Path, revision: str) -> str:
        self.asked.append(revision)
        self.before()
        for path in (PACKAGED / self.model).iterdir():
            shutil.copy(path, folder)
        return "commit"


class DownStore:
    """A store that fails, whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        def fail(*_: object, **__: object) -> None:
            raise InfrastructureError("the store is down")

        return fail


def test_the_first_run_fills_the_store_and_another_machine_takes_it_from_there(
    store: ObjectStore, tmp_path: Path
) -> None:
    origin = Origin()
    first = stored("hub:a/b", store, tmp_path / "here", origin)
    second = stored("hub:a/b", store, tmp_path / "there", origin)
    assert (first[1], second[1], origin.asked) == (DIGEST, DIGEST, [""])
    assert tree_digest(second[0]) == DIGEST
    assert second[0].parent == tmp_path / "there"


def test_a_store_that_is_down_does_not_break_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    origin, down = Origin(), DownStore()
    for _ in range(2):
        assert stored("hub:a/b", down, tmp_path, origin) == (tmp_path / DIGEST, DIGEST)  # type: ignore[arg-type]
    assert origin.asked == [""]
    assert "could not be stored for others: the store is down" in caplog.text
    assert all(record.levelno == logging.WARNING for record in caplog.records)


def test_a_store_that_comes_back_is_filled_from_what_is_here(store: ObjectStore, tmp_path: Path) -> None:
    origin = Origin()
    stored("hub:a/b", None, tmp_path / "here", origin)
    stored("hub:a/b", store, tmp_path / "here", origin)
    stored("hub:a/b", store, tmp_path / "there", Origin("nano-base"))
    assert origin.asked == [""]
    assert tree_digest(tmp_path / "there" / DIGEST) == DIGEST


def test_a_damaged_copy_in_the_store_is_fetched_anew_at_its_revision_and_mended(
    store: ObjectStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    origin = Origin()
    stored("hub:a/b", store, tmp_path / "here", origin)
    store.put(f"models/{DIGEST}/files/config.json", b"{}")
    assert stored("hub:a/b", store, tmp_path / "there", origin)[1] == DIGEST
    assert origin.asked == ["", "commit"]
    assert "config.json is damaged" in caplog.text
    assert stored("hub:a/b", store, tmp_path / "third", origin)[1] == DIGEST
    assert len(origin.asked) == 2


def test_a_damaged_copy_here_is_taken_from_the_store_again(store: ObjectStore, tmp_path: Path) -> None:
    origin = Origin()
    folder, _ = stored("hub:a/b", store, tmp_path / "here", origin)
    (folder / "config.json").write_text("{}")
    assert tree_digest(stored("hub:a/b", store, tmp_path / "here", origin)[0]) == DIGEST
    assert origin.asked == [""]


def test_a_damaged_copy_here_without_a_store_is_fetched_anew(tmp_path: Path) -> None:
    origin = Origin()
    folder, _ = stored("hub:a/b", None, tmp_path, origin)
    (folder / "config.json").write_text("{}")
    assert tree_digest(stored("hub:a/b", None, tmp_path, origin)[0]) == DIGEST
    assert origin.asked == ["", "commit"]


def test_a_damaged_note_of_what_a_source_is_counts_as_none_and_is_mended(store: ObjectStore, tmp_path: Path) -> None:
    origin = Origin()
    stored("hub:a/b", store, tmp_path / "here", origin)
    (key,) = store.list("weights/")
    store.put(key, b"{")
    for machine in ("second", "third"):
        assert stored("hub:a/b", store, tmp_path / machine, origin)[1] == DIGEST
    assert origin.asked == ["", ""]


def test_another_model_at_the_same_place_is_an_error(store: ObjectStore, tmp_path: Path) -> None:
    stored("hub:a/b", store, tmp_path / "here", Origin())
    store.delete(f"models/{DIGEST}/manifest.json")
    with pytest.raises(UsageError, match=f"is not what it was: sha256 .* instead of {DIGEST}"):
        stored("hub:a/b", store, tmp_path / "there", Origin("nano-base"))
    assert [path.name for path in (tmp_path / "there").iterdir() if path.is_dir()] == []


def test_what_may_differ_takes_the_place_of_what_was(store: ObjectStore, tmp_path: Path) -> None:
    stored("gguf:a", store, tmp_path / "here", Origin(), repeatable=False)
    store.delete(f"models/{DIGEST}/manifest.json")
    other = tree_digest(PACKAGED / "nano-base")
    assert stored("gguf:a", store, tmp_path / "there", Origin("nano-base"), repeatable=False)[1] == other
    assert stored("gguf:a", store, tmp_path / "third", Origin("none"), repeatable=False)[1] == other


def test_a_digest_that_is_expected_must_be_met(store: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not what it was"):
        stored("hub:a/b", store, tmp_path, Origin("nano-base"), expected=DIGEST)
    assert list(store.list()) == []
    assert stored("hub:a/b", store, tmp_path, Origin(), expected=DIGEST)[1] == DIGEST


def test_who_comes_first_decides_what_a_source_is(store: ObjectStore, tmp_path: Path) -> None:
    def others() -> None:
        stored("hub:a/b", store, tmp_path / "there", Origin())

    late = Origin("nano-base", before=others)
    folder, digest = stored("hub:a/b", store, tmp_path / "here", late)
    assert (digest, tree_digest(folder)) == (DIGEST, DIGEST)


def test_first_runs_at_once_end_with_one_whole_model(store: ObjectStore, tmp_path: Path) -> None:
    together = Barrier(2, timeout=30)
    origin = Origin(before=together.wait)
    with ThreadPoolExecutor(2) as pool:
        caches = (tmp_path / "a", tmp_path / "b")
        results = list(pool.map(lambda cache: stored("hub:a/b", store, cache, origin), caches))
    assert [digest for _, digest in results] == [DIGEST, DIGEST]
    assert all(tree_digest(folder) == DIGEST for folder, _ in results)


def test_one_machine_fetches_once(store: ObjectStore, tmp_path: Path) -> None:
    origin = Origin()
    with ThreadPoolExecutor(4) as pool:
        results = set(pool.map(lambda _: stored("hub:a/b", store, tmp_path, origin), range(4)))
    assert results == {(tmp_path / DIGEST, DIGEST)}
    assert len(origin.asked) == 1


def test_a_fetch_that_fails_leaves_nothing(store: ObjectStore, tmp_path: Path) -> None:
    def fails() -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(InfrastructureError, match="No space left on device"):
        stored("hub:a/b", store, tmp_path / "here", Origin(before=fails))
    assert list(store.list()) == []
    assert not any(path.is_dir() for path in (tmp_path / "here").iterdir())
