"""Reading named text files: what is read, and what is refused, at once and with a place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rl_gym.infra.text_files import UnreadableError, read_text


def test_text_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("ü\r\n", newline="")
    (tmp_path / "link").symlink_to("a")
    assert read_text(str(tmp_path / "link"), 4) == "ü\r\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\n\xc3\xbc\xff\n", ":2:2: not UTF-8 text"),
        (b"\x80", ":1:1: not UTF-8 text"),
        ("a".encode("utf-16"), ":1:1: not UTF-8 text, but UTF-16: save it as UTF-8"),
        (b"#" * (2**20 + 1), ": larger than 1 MiB"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    with pytest.raises(UnreadableError) as refused:
        read_text(str(path), 2**20)
    assert str(refused.value) == f"{path}{message}"


def test_nothing_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "nowhere").symlink_to("nothing")
    (tmp_path / "folder").mkdir()
    for name, message in {
        "pipe": "not a regular file",
        "endless": "not a regular file",
        "nowhere": "No such file or directory",
        "folder": "Is a directory",
    }.items():
        with pytest.raises(UnreadableError, match=message):
            read_text(str(tmp_path / name), 100)
