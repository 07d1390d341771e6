from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from rl_gym.gym import records
from rl_gym.gym.records import RecordedCompletion
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError

Maker = Callable[..., RecordedCompletion]


def test_records_survive_their_file(tmp_path: Path, record: Maker) -> None:
    originals = [
        record("base", 0, completion="line\nbreak \u2028 é \U0001f512 \0", completion_tokens=7, finish_reason="length"),
        record("oracle", 1, greedy=True, checks={"a": "na", "b": "unknown"}, components={"x": None}, canonical="n"),
    ]
    path = tmp_path / "new" / "completions.jsonl"
    records.write(path, originals)
    assert records.read(path) == originals
    assert len(path.read_bytes().split(b"\n")) == 3


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "2: Invalid JSON"),
        ("[]", "2: Input should be an object"),
        ("{}", "2: environment: Field required"),
        ('{"surprise": 1}', "2: environment: Field required"),
    ],
)
def test_a_bad_line_says_where_and_why(tmp_path: Path, record: Maker, line: str, why: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(record().model_dump_json() + "\n" + line + "\n")
    with pytest.raises(UsageError, match=rf"c\.jsonl:{why}"):
        records.read(path)


def test_bytes_that_are_no_text_are_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\xff\xfe\x00\n")
    with pytest.raises(UsageError, match=r"c\.jsonl:1"):
        records.read(path)


def test_an_endless_line_is_refused_without_reading_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    with path.open("wb") as file:
        file.truncate(10 * records.MAX_LINE_BYTES)
    with pytest.raises(UsageError, match=r"c\.jsonl:1: longer than"):
        records.read(path)


def test_too_many_lines_are_refused(tmp_path: Path, record: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_RECORDS", 2)
    path = tmp_path / "c.jsonl"
    records.write(path, [record(sample=n) for n in range(3)])
    with pytest.raises(UsageError, match="more than 2 lines"):
        records.read(path)


def test_absent_empty_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no such file"):
        records.read(tmp_path / "absent.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n \n")
    with pytest.raises(UsageError, match="no recorded completions"):
        records.read(tmp_path / "empty.jsonl")
    with pytest.raises(UsageError, match="directory"):
        records.read(tmp_path)


def test_rewards_that_cannot_be_are_refused(record: Maker) -> None:
    for bad in ({"reward": 1.5}, {"reward": float("nan")}, {"components": {"x": -0.1}}):
        with pytest.raises(ValidationError, match="outside"):
            record(**bad)
    with pytest.raises(ValidationError, match="checks"):
        record(checks={"a": "maybe"})


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, record: Maker) -> None:
    path = tmp_path / "c.jsonl"
    records.write(path, [record()])

    def broken() -> Iterator[RecordedCompletion]:
        yield record("base")
        raise OSError(28, os.strerror(28))

    with pytest.raises(InfrastructureError, match=r"c\.jsonl: could not be written: No space left"):
        records.write(path, broken())
    assert records.read(path) == [record()]
    assert [p.name for p in tmp_path.iterdir()] == ["c.jsonl"]


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path, record: Maker) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InfrastructureError, match=r"file/c\.jsonl: could not be written"):
        records.write(tmp_path / "file" / "c.jsonl", [record()])


def test_the_digest_is_of_the_content_not_of_the_order(record: Maker) -> None:
    one, two = record(sample=0), record(sample=1)
    assert records.records_digest([one, two]) == records.records_digest([two, one])
    assert records.records_digest([one]) != records.records_digest([one, two])
    assert records.records_digest([one]) != records.records_digest([record(sample=0, completion="y")])
