"""Documents on disk: whole or as they were, whatever a path leads to, and what a refusal says."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from rl_gym.gym.files import read_document, replace_text, replacing
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    replace_text(path, "é\n")
    assert path.read_bytes() == "é\n".encode()
    with pytest.raises(RuntimeError):
        _write_half(path)
    assert path.read_text() == "é\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["b.txt"]


def _write_half(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half")
        raise RuntimeError


def test_until_the_end_the_old_file_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_a_link_and_the_mode_of_the_file_stay(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    target = tmp_path / "kept" / "a"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(Path("kept") / "a")
    replace_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path / "kept") == ["a"]


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    replace_text(pipe, "text")
    reader.join(timeout=30)
    assert found == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_missing_folders_are_made_where_asked(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="a/b: could not be written: No such file or directory"):
        replace_text(tmp_path / "a" / "b", "", parents=False)
    assert not (tmp_path / "a").exists()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="could not be written: Is a directory"):
        replace_text(tmp_path, "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o440)
    with pytest.raises(InfrastructureError, match="could not be written: Permission denied"):
        replace_text(path, "new")
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [(None, NotFoundError, "no such file"), ("{", UsageError, "no JSON: "), ("[]", UsageError, "no JSON object")],
)
def test_what_is_no_document_is_told(tmp_path: Path, text: str | None, kind: type[UsageError], message: str) -> None:
    path = tmp_path / "a.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(kind, match=message):
        read_document(path)
