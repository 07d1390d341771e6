"""Models in the object store: what goes in comes out, whole and checked, and nothing else gets in or out."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import InfrastructureError, NotFoundError, RlGymError, UsageError
from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.serving import adapters
from rl_gym.serving.adapters import fetch, publish
from rl_gym.wire import ModelManifest

Files = dict[str, bytes]
ADAPTER: Files = {
    "adapter_config.json": b'{"r": 8}',
    "adapter_model.safetensors": bytes(range(256)) * 9_000,
    "README.md": b"# An adapter\n",
    "template/chat_template.jinja": b"{{ messages }}",
}


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path / "objects"))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def folder_of(path: Path, files: Files = ADAPTER) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def files_of(folder: Path) -> Files:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def forge(store: ObjectStore, files: Files) -> str:
    """A model that someone wrote to the store by hand."""
    names = {name: adapters.hashlib.sha256(content).hexdigest() for name, content in files.items()}
    manifest = ModelManifest.model_construct(files=names)
    for name, content in files.items():
        with suppress(UsageError):
            store.put(f"models/{manifest.digest}/files/{name}", content)
    store.put(f"models/{manifest.digest}/manifest.json", json.dumps({"files": names}).encode())
    return manifest.digest


def test_what_is_published_is_fetched_under_its_digest(store: ObjectStore, tmp_path: Path, cache: Path) -> None:
    folder = folder_of(tmp_path / "adapter")
    digest = publish(store, folder)
    assert digest == tree_digest(folder)
    fetched = fetch(store, digest, cache)
    assert (fetched, files_of(fetched)) == (cache / digest, ADAPTER)
    assert [path.name for path in cache.iterdir()] == [digest]
    assert publish(store, folder) == digest


def test_what_is_in_the_cache_and_whole_is_not_fetched_again(store: ObjectStore, tmp_path: Path, cache: Path) -> None:
    digest = publish(store, folder_of(tmp_path / "adapter"))
    fetch(store, digest, cache)
    assert fetch(open_store(str(tmp_path / "empty")), digest, cache) == cache / digest


def cut(folder: Path) -> None:
    (folder / "adapter_model.safetensors").write_bytes(b"short")


def add(folder: Path) -> None:
    (folder / "more.py").write_text("print()")


def remove(folder: Path) -> None:
    (folder / "README.md").unlink()


def replace(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("a file")


@pytest.mark.parametrize("damage", [cut, add, remove, replace])
def test_a_damaged_cache_entry_is_fetched_anew(
    store: ObjectStore, tmp_path: Path, cache: Path, damage: Callable[[Path], None]
) -> None:
    digest = publish(store, folder_of(tmp_path / "adapter"))
    damage(fetch(store, digest, cache))
    assert files_of(fetch(store, digest, cache)) == ADAPTER
    assert [path.name for path in cache.iterdir()] == [digest]


@pytest.mark.parametrize("name", ["model.bin", "model.pt", "modeling.py", "weights.pkl", "model.gguf", "Makefile"])
def test_what_could_run_when_it_is_read_is_refused_on_both_ways(
    store: ObjectStore, tmp_path: Path, cache: Path, name: str
) -> None:
    files = {**ADAPTER, name: b"x"}
    with pytest.raises(UsageError, match=f"^{name} is neither weights in safetensors nor text"):
        publish(store, folder_of(tmp_path / "adapter", files))
    assert list(store.list()) == []
    with pytest.raises(InfrastructureError, match=f"may not be loaded: {name} is neither"):
        fetch(store, forge(store, files), cache)


@pytest.mark.parametrize("name", ["../../up.json", "/etc/up.json", ".hidden.json", "a/../../up.json", "a//b.json"])
def test_no_name_leads_out_of_the_folder(store: ObjectStore, cache: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(InfrastructureError, match=r"its manifest is damaged|may not be loaded"):
        fetch(store, forge(store, {name: b"{}"}), cache)
    assert list(tmp_path.rglob("up.json")) == list((tmp_path / "objects").rglob("up.json"))


@pytest.mark.parametrize("damage", [b"short", ADAPTER["adapter_model.safetensors"][::-1], None])
def test_what_is_damaged_in_the_store_does_not_appear(
    store: ObjectStore, tmp_path: Path, cache: Path, damage: bytes | None
) -> None:
    digest = publish(store, folder_of(tmp_path / "adapter"))
    key = f"models/{digest}/files/adapter_model.safetensors"
    store.delete(key) if damage is None else store.put(key, damage)
    with pytest.raises(
        InfrastructureError, match=r"adapter_model.safetensors is (damaged|missing) in the object store"
    ):
        fetch(store, digest, cache)
    assert list(cache.iterdir()) == []


def test_a_manifest_of_another_model_is_not_believed(store: ObjectStore, tmp_path: Path, cache: Path) -> None:
    one = publish(store, folder_of(tmp_path / "one"))
    other = publish(store, folder_of(tmp_path / "other", {"config.json": b"{}"}))
    store.put(f"models/{one}/manifest.json", store.get(f"models/{other}/manifest.json").body)
    with pytest.raises(InfrastructureError, match="its manifest is that of another"):
        fetch(store, one, cache)


@pytest.mark.parametrize(
    ("digest", "kind", "reason"),
    [
        ("0" * 64, NotFoundError, "no model 0{64} in the object store"),
        ("0" * 12, UsageError, "named by its SHA-256"),
        ("../x", UsageError, "named by its SHA-256"),
    ],
)
def test_a_model_that_there_is_not_is_told(
    store: ObjectStore, cache: Path, digest: str, kind: type[RlGymError], reason: str
) -> None:
    with pytest.raises(kind, match=reason):
        fetch(store, digest, cache)


def test_models_are_bounded_in_number_and_size_of_files(
    store: ObjectStore, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="at most 128 items"):
        publish(store, folder_of(tmp_path / "many", {f"{number}.json": b"{}" for number in range(129)}))
    (tmp_path / "none").mkdir()
    with pytest.raises(UsageError, match="at least 1 item"):
        publish(store, tmp_path / "none")
    digest = publish(store, folder_of(tmp_path / "adapter"))
    monkeypatch.setattr(adapters, "MAX_MODEL_BYTES", 1_000_000)
    with pytest.raises(UsageError, match="a model may have 1000000"):
        publish(store, tmp_path / "adapter")
    with pytest.raises(InfrastructureError, match="more than 1000000 bytes"):
        fetch(store, digest, cache)
    assert list(cache.iterdir()) == []


def test_the_cache_keeps_what_was_used_last(
    store: ObjectStore, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapters, "_MOST_KEPT", 2)
    digests = [publish(store, folder_of(tmp_path / str(n), {"config.json": str(n).encode()})) for n in range(3)]
    for age, digest in zip((300, 100, 200), digests, strict=True):
        path = folder_of(cache / digest, {"config.json": str(digests.index(digest)).encode()})
        os.utime(path, (1_000_000_000 - age,) * 2)
    abandoned = folder_of(cache / f".{'0' * 64}.x")
    os.utime(abandoned, (1_000_000_000,) * 2)
    fetch(store, digests[0], cache)
    assert {path.name for path in cache.iterdir()} == {digests[0], digests[1]}


def test_what_is_no_more_wanted_is_not_fetched_to_its_end(store: ObjectStore, tmp_path: Path, cache: Path) -> None:
    digest = publish(store, folder_of(tmp_path / "adapter"))
    answers = iter([True, True, False])
    with pytest.raises(InfrastructureError, match="no more wanted"):
        fetch(store, digest, cache, lambda: next(answers))
    assert list(cache.iterdir()) == []


def test_a_disk_that_refuses_is_one_line(store: ObjectStore, tmp_path: Path) -> None:
    digest = publish(store, folder_of(tmp_path / "adapter"))
    (tmp_path / "file").write_text("x")
    with pytest.raises(InfrastructureError, match=r"file/[0-9a-f]{64}: Not a directory"):
        fetch(store, digest, tmp_path / "file")
