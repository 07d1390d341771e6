"""The contract of object stores, which each of them keeps, and what the folder store promises beyond it."""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.folder_store import FolderStore
from rl_gym.infra.object_store import MAX_KEY_LENGTH, ObjectStore, check_key, open_store
from tests.unit.infra.s3_server import S3Server

SPAWN = multiprocessing.get_context("spawn")
LARGE = 17 << 20


@pytest.fixture(params=["folder", "s3"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return f"file://{tmp_path / 'store'}"
    s3: S3Server = request.getfixturevalue("s3")
    return s3.address


@pytest.fixture
def store(address: str) -> ObjectStore:
    return open_store(address)


class TestContract:
    def test_what_was_put_is_read_back(self, store: ObjectStore) -> None:
        etag = store.put("runs/7/manifest.json", b"{}")
        stored = store.get("runs/7/manifest.json")
        assert (stored.body, stored.etag) == (b"{}", etag)
        assert store.exists("runs/7/manifest.json")

    def test_a_stream_is_stored_as_its_bytes_are(self, store: ObjectStore) -> None:
        body = os.urandom(3 << 20)
        store.put("a", io.BytesIO(body))
        store.put("b", body)
        with store.open("a") as stream:
            assert stream.read() == body
        assert store.get("b").body == body

    def test_a_body_may_be_empty(self, store: ObjectStore) -> None:
        etag = store.put("a", b"")
        assert store.get("a", max_bytes=0).body == b""
        with store.open("a") as stream:
            assert stream.read() == b""
        store.replace("a", b"1", etag)

    def test_a_large_body_keeps_the_same_promises(self, store: ObjectStore) -> None:
        first, second = os.urandom(LARGE), os.urandom(LARGE)
        old = store.create("a", _Dripping(first))
        with pytest.raises(ConflictError):
            store.create("a", _Dripping(second))
        with store.open("a") as before:
            assert before.read(5) == first[:5]
            new = store.replace("a", _Dripping(second), old)
            # What was opened stays what it was.
            assert before.read() == first[5:]
        with pytest.raises(ConflictError):
            store.replace("a", _Dripping(first), old)
        stored = store.get("a")
        assert (stored.body == second, stored.etag) == (True, new)
        with pytest.raises(UsageError, match="larger than"):
            store.get("a", max_bytes=LARGE - 1)

    def test_a_key_may_have_every_sign_that_keys_may_have(self, store: ObjectStore) -> None:
        keys = sorted(("a=b/c@d+e/_x-y.z", "+", "-", "=/@", "A/a..b", "x" * 200 + "/" + "y" * 200))
        for key in keys:
            store.put(key, key.encode())
        assert list(store.list()) == keys
        for key in keys:
            assert store.exists(key)
            assert store.get(key).body == key.encode()
            store.delete(key)
        assert list(store.list()) == []

    def test_a_put_replaces_whatever_was_there(self, store: ObjectStore) -> None:
        first = store.put("a", b"longer than the second")
        second = store.put("a", b"short")
        assert first != second
        assert store.get("a").body == b"short"

    def test_what_is_not_there_is_not_found(self, store: ObjectStore) -> None:
        store.put("a/b", b"")
        for key in ("none", "a", "a/b/c"):
            assert not store.exists(key)
            with pytest.raises(NotFoundError, match=f"no object '{key}'"):
                store.get(key)
            with pytest.raises(NotFoundError):
                store.open(key)

    def test_create_writes_once(self, store: ObjectStore) -> None:
        etag = store.create("lease", b"first")
        with pytest.raises(ConflictError, match="lease"):
            store.create("lease", b"second")
        assert store.get("lease").etag == etag

    def test_replace_writes_over_the_version_it_names(self, store: ObjectStore) -> None:
        first = store.put("pointer", b"1")
        second = store.replace("pointer", b"2", first)
        with pytest.raises(ConflictError, match="pointer"):
            store.replace("pointer", b"3", first)
        assert store.get("pointer").etag == second
        assert store.get("pointer").body == b"2"

    @pytest.mark.parametrize(
        "etag", ["", "*", '"*"', '"0", "1"', 'W/"0"', '"0"\r\nx: y', "ü", '"' + "0" * 32 + '"', "0" * 64]
    )
    def test_a_tag_of_no_version_replaces_nothing(self, store: ObjectStore, etag: str) -> None:
        store.put("pointer", b"1")
        with pytest.raises(ConflictError, match="pointer"):
            store.replace("pointer", b"2", etag)
        assert store.get("pointer").body == b"1"

    def test_replace_needs_something_to_replace(self, store: ObjectStore) -> None:
        etag = store.put("other", b"1")
        with pytest.raises(ConflictError):
            store.replace("pointer", b"1", etag)
        assert not store.exists("pointer")

    def test_list_answers_in_byte_order_by_any_prefix(self, store: ObjectStore) -> None:
        for key in ("runs/a/2", "runs/a-b", "runs/a/1", "models/x", "runs/B"):
            store.put(key, b"")
        assert list(store.list("runs/")) == ["runs/B", "runs/a-b", "runs/a/1", "runs/a/2"]
        assert list(store.list("runs/a")) == ["runs/a-b", "runs/a/1", "runs/a/2"]
        assert list(store.list()) == ["models/x", "runs/B", "runs/a-b", "runs/a/1", "runs/a/2"]
        assert list(store.list("none/at/all")) == []

    def test_list_answers_all_keys_however_many(self, store: ObjectStore, fill: Callable[[str], None]) -> None:
        keys = [f"runs/{number:04}" for number in range(1_050)]
        for key in (*keys, "models/1", "s"):
            fill(key)
        assert list(store.list("runs/")) == keys
        assert next(iter(store.list())) == "models/1"

    @pytest.mark.parametrize("prefix", ["../", "a//b", ".hidden/a", "a b/"])
    def test_a_prefix_that_no_key_has_is_refused(self, store: ObjectStore, prefix: str) -> None:
        with pytest.raises(UsageError, match="object key"):
            list(store.list(prefix))

    def test_a_deleted_object_is_gone_and_may_be_deleted_again(self, store: ObjectStore) -> None:
        store.put("a", b"")
        store.delete("a")
        store.delete("a")
        assert not store.exists("a")
        assert list(store.list()) == []
        store.create("a", b"")

    def test_an_object_over_the_callers_bound_is_refused(self, store: ObjectStore) -> None:
        store.put("a", b"12345")
        assert store.get("a", max_bytes=5).body == b"12345"
        with pytest.raises(UsageError, match="larger than 4 bytes"):
            store.get("a", max_bytes=4)

    @pytest.mark.parametrize(
        "key",
        ["", "/etc/passwd", "../a", "a/../b", "a/./b", "a//b", "a/", ".hidden", "a\\b", "a b", "a\0", "ü", "a\n"],
    )
    def test_a_key_that_could_leave_the_store_is_refused(self, store: ObjectStore, key: str) -> None:
        for method in (store.get, store.open, store.exists, store.delete):
            with pytest.raises(UsageError, match="object key"):
                method(key)
        for write in (store.put, store.create):
            with pytest.raises(UsageError, match="object key"):
                write(key, b"")

    def test_a_failed_body_leaves_the_old_object(self, store: ObjectStore) -> None:
        store.put("a", b"old")
        with pytest.raises(InfrastructureError, match="the source broke"):
            store.put("a", _Breaking())
        assert store.get("a").body == b"old"

    def test_a_large_body_that_fails_leaves_the_old_object(self, store: ObjectStore) -> None:
        etag = store.put("a", b"old")
        for write in (store.put, store.create, lambda key, body: store.replace(key, body, etag)):
            with pytest.raises(InfrastructureError, match="the source broke"):
                write("a", _Breaking(LARGE))
        assert store.get("a").body == b"old"
        assert list(store.list()) == ["a"]

    def test_of_many_threads_one_creates_and_one_replaces(self, store: ObjectStore) -> None:
        etag = store.put("pointer", b"")
        together = threading.Barrier(8)

        def race(name: int) -> tuple[bool, bool]:
            together.wait()
            body = str(name).encode()
            return _succeeds(lambda: store.create("lease", body)), _succeeds(
                lambda: store.replace("pointer", body, etag)
            )

        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(race, range(8)))
        for key, won in zip(("lease", "pointer"), zip(*outcomes, strict=True), strict=True):
            assert sum(won) == 1
            assert store.get(key).body == str(won.index(True)).encode()

    def test_of_many_creators_one_wins(self, address: str) -> None:
        open_store(address)
        with SPAWN.Pool(3) as pool:
            wins = pool.starmap(_create, [(address, str(n)) for n in range(16)])
        winners = [n for n, won in enumerate(wins) if won]
        assert len(winners) == 1
        assert open_store(address).get("lease").body == str(winners[0]).encode()

    def test_counting_by_compare_and_swap_loses_nothing(self, address: str) -> None:
        open_store(address).put("count", b"0")
        with SPAWN.Pool(3) as pool:
            pool.starmap(_count, [(address, 8)] * 3)
        assert open_store(address).get("count").body == b"24"

    def test_a_reader_never_sees_half_a_body(self, address: str) -> None:
        store = open_store(address)
        store.put("a", b"0" * (1 << 20))
        writer = SPAWN.Process(target=_rewrite, args=(address, 20))
        writer.start()
        seen = set()
        while writer.is_alive():
            body = store.get("a").body
            assert len(body) == 1 << 20
            assert len(set(body)) == 1
            seen.add(body[0])
        writer.join()
        assert writer.exitcode == 0
        assert len(seen) > 1


@pytest.fixture
def fill(request: pytest.FixtureRequest, store: ObjectStore, tmp_path: Path) -> Callable[[str], None]:
    """Puts an object where the store will find it, and neither waits for a disk nor for a server."""
    if not isinstance(store, FolderStore):
        s3: S3Server = request.getfixturevalue("s3")
        return lambda key: s3.put(key, b"")

    def fill(key: str) -> None:
        path = tmp_path / "store" / "objects" / key
        path.parent.mkdir(exist_ok=True)
        path.touch()

    return fill


class TestFolder:
    def test_nothing_comes_between_a_check_and_its_write(self, tmp_path: Path) -> None:
        first = FolderStore(tmp_path).put("pointer", b"")
        with SPAWN.Pool(4) as pool:
            outcomes = pool.starmap(_write_slowly, [(str(tmp_path), first)] * 4)
        created, replaced = map(sum, zip(*outcomes, strict=True))
        assert (created, replaced) == (1, 1)

    def test_a_killed_writer_leaves_the_old_object(self, tmp_path: Path) -> None:
        store = FolderStore(tmp_path)
        store.put("a", b"old")
        writing = SPAWN.Event()
        writer = SPAWN.Process(target=_write_for_ever, args=(str(tmp_path), writing))
        writer.start()
        assert writing.wait(30)
        os.kill(writer.pid or 0, signal.SIGKILL)
        writer.join()
        assert store.get("a").body == b"old"
        assert list(store.list()) == ["a"]
        store.put("a", b"new")

    def test_what_a_killed_writer_left_is_swept_a_day_later(self, tmp_path: Path) -> None:
        FolderStore(tmp_path)
        old, fresh = tmp_path / "partial" / "old", tmp_path / "partial" / "fresh"
        old.touch()
        fresh.touch()
        long_ago = time.time() - 2 * 86_400
        os.utime(old, (long_ago, long_ago))
        FolderStore(tmp_path)
        assert [old.exists(), fresh.exists()] == [False, True]

    def test_a_key_that_is_the_folder_of_another_is_refused(self, tmp_path: Path) -> None:
        store = FolderStore(tmp_path)
        store.put("a/b", b"")
        for write in (store.put, store.create):
            with pytest.raises(ConflictError, match="folder"):
                write("a", b"")
            with pytest.raises(ConflictError, match="folder"):
                write("a/b/c", b"")

    def test_a_full_disk_is_our_fault_and_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        store = FolderStore(tmp_path)

        def full(descriptor: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(InfrastructureError, match="'a': No space left on device"):
            store.put("a", b"1")
        assert not store.exists("a")
        assert list((tmp_path / "partial").iterdir()) == []

    def test_a_root_that_cannot_be_made_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(InfrastructureError, match="file/store"):
            FolderStore(tmp_path / "file" / "store")


class TestAddress:
    def test_a_plain_path_and_a_file_address_are_one_store(self, tmp_path: Path) -> None:
        open_store(str(tmp_path / "with space")).put("a", b"1")
        assert open_store(f"file://{tmp_path}/with%20space").get("a").body == b"1"

    @pytest.mark.parametrize("address", ["", "http://localhost/x", "file://elsewhere/x", "gs://a"])
    def test_another_kind_of_address_is_refused(self, address: str) -> None:
        with pytest.raises(UsageError, match="a folder is needed"):
            open_store(address)

    def test_an_address_that_is_refused_is_not_repeated(self) -> None:
        for address in ("http://user:password@host/x", "http://[password"):
            with pytest.raises(UsageError) as refused:
                open_store(address)
            assert "password" not in str(refused.value)

    def test_a_key_has_a_longest_length(self) -> None:
        longest = "/".join(["abc"] * (MAX_KEY_LENGTH // 4)) + "/"
        assert check_key(longest[:-1])
        with pytest.raises(UsageError, match="at most 512"):
            check_key(longest + "ab")


class _Breaking:
    """A source that gives something and then fails."""

    def __init__(self, size: int = 3) -> None:
        self._source = io.BytesIO(b"n" * size)

    def read(self, size: int, /) -> bytes:
        chunk = self._source.read(size)
        if not chunk:
            raise OSError(errno.EIO, "the source broke")
        return chunk


class _Dripping:
    """A source that gives less than it is asked for."""

    def __init__(self, body: bytes) -> None:
        self._source = io.BytesIO(body)

    def read(self, size: int, /) -> bytes:
        return self._source.read(min(size, 1_000_003))


class _Endless:
    def __init__(self, writing: Any) -> None:
        self._writing = writing

    def read(self, size: int, /) -> bytes:
        self._writing.set()
        time.sleep(0.01)
        return b"new"


def _write_for_ever(root: str, writing: Any) -> None:
    FolderStore(Path(root)).put("a", _Endless(writing))


class _SlowStore(FolderStore):
    """Waits between the check and the write, for long enough that another process would slip in."""

    def _publish(self, partial: Path, key: str) -> None:
        time.sleep(0.2)
        super()._publish(partial, key)


def _write_slowly(root: str, etag: str) -> tuple[bool, bool]:
    store = _SlowStore(Path(root))
    return _succeeds(lambda: store.create("lease", b"")), _succeeds(
        lambda: store.replace("pointer", os.urandom(8), etag)
    )


def _succeeds(write: Callable[[], str]) -> bool:
    try:
        write()
    except ConflictError:
        return False
    return True


def _create(address: str, name: str) -> bool:
    return _succeeds(lambda: open_store(address).create("lease", name.encode()))


def _count(address: str, times: int) -> None:
    store = open_store(address)
    for _ in range(times):
        while True:
            stored = store.get("count")
            try:
                store.replace("count", str(int(stored.body) + 1).encode(), stored.etag)
            except ConflictError:
                continue
            break


def _rewrite(address: str, times: int) -> None:
    store = open_store(address)
    for number in range(times):
        store.put("a", str(number % 10).encode() * (1 << 20))
