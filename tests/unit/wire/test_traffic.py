"""Aggregated traffic: read within bounds, each mistake named by file and line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.wire import traffic
from rl_gym.wire.traffic import MixRow, read_mix

ROW: dict[str, Any] = {
    "environment": "iac",
    "request": "a private bucket",
    "required": ["aws_s3_bucket"],
    "count": 3,
    "sources": {"model": 3, "fixer": 1},
}


def body(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_rows_are_read_in_their_order_and_empty_lines_passed_over() -> None:
    read = read_mix(body(ROW) + b"\n" + body({**ROW, "request": "another", "count": 1}), "mix.jsonl")
    assert [(row.request, row.count) for row in read] == [("a private bucket", 3), ("another", 1)]
    assert read[0] == MixRow.model_validate(ROW)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"count": 0}, "count: Input should be greater than or equal to 1"),
        ({"sources": {"somebody": 1}}, r"sources\.somebody"),
        ({"sources": {}}, "sources: "),
        ({"required": ["aws_s3_bucket", "aws_s3_bucket"]}, "required: a value is given twice"),
        ({"request": "a\u0007bell"}, r"request: control character U\+0007"),
        ({"answer": "text"}, "answer and author go together"),
        ({"answer": "text", "author": "external"}, "the answer is by 'external', and sources counts none of theirs"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
    ],
)
def test_a_line_that_is_no_row_is_named(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=rf"^mix\.jsonl:2: .*{complaint}"):
        read_mix(body(ROW, {**ROW, **change}), "mix.jsonl")


@pytest.mark.parametrize(("text", "complaint"), [(b"", "no traffic in it"), (b"\n\n", "no traffic"), (b"{", ":1: ")])
def test_what_holds_no_rows_is_refused(text: bytes, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read_mix(text, "mix.jsonl")


def test_there_are_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "MAX_MIX_ROWS", 1)
    with pytest.raises(UsageError, match=r"mix\.jsonl:2: more than 1 rows"):
        read_mix(body(ROW, ROW), "mix.jsonl")
    monkeypatch.setattr(traffic, "MAX_MIX_BYTES", 10)
    with pytest.raises(UsageError, match="at most 10 are read"):
        read_mix(body(ROW), "mix.jsonl")
