"""JSON lines of a run folder."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.training.files import read_rows, write_rows, writing

ROWS = [{"a": 1}, {"b": "zwölf\nlines"}]


def test_rows_come_back(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", ROWS)
    assert read_rows(tmp_path / "rows.jsonl") == ROWS
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_text_may_hold_what_some_take_for_the_end_of_a_line(tmp_path: Path) -> None:
    rows = [{"a": "one\u2028two\u2029three\x85four\x0bfive\x1csix\rseven"}, {"a": ""}]
    write_rows(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl") == rows


def test_no_rows_come_back_as_none(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", [])
    assert read_rows(tmp_path / "rows.jsonl") == []


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (None, NotFoundError, "no such file"),
        (b'{"a": 1}\n{"a"\n', UsageError, r"rows\.jsonl:2: no JSON"),
        (b"\xff\xfe", UsageError, "no text"),
    ],
)
def test_damage_is_one_line(tmp_path: Path, content: bytes | None, error: type[Exception], said: str) -> None:
    path = tmp_path / "rows.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=said):
        read_rows(path)


def test_a_full_disk_is_one_line_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"x: could not be written: No space left"), writing(tmp_path / "x"):
        raise OSError(errno.ENOSPC, "No space left on device")
