"""The corpora's files: found, fetched once, refused when they are not what was frozen, and honest when offline."""

from __future__ import annotations

import io
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from rl_gym.iac import corpora
from rl_gym.iac.corpora import IAC_EVAL_URL, iac_eval_rows, json_rows
from rl_gym.infra.errors import NotFoundError, UsageError

HEADER = "Resource,Prompt,Rego intent,Difficulty,Reference output,Intent\n"
ROW = 'aws_vpc,"a ""big"" VPC",package x,1,"resource ""aws_vpc"" ""v"" {\n  cidr_block = ""10.0.0.0/16""\n}",one VPC\n'


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A corpus of one row that passes for IaC-Eval."""
    body = (HEADER + ROW).encode()
    row = {
        "Resource": "aws_vpc",
        "Prompt": 'a "big" VPC',
        "Rego intent": "package x",
        "Difficulty": "1",
        "Reference output": 'resource "aws_vpc" "v" {\n  cidr_block = "10.0.0.0/16"\n}',
        "Intent": "one VPC",
    }
    monkeypatch.setattr(corpora, "IAC_EVAL_DIGEST", corpora.rows_digest([row]))
    return body


class Home:
    """Stands in for the public home; counts the visits."""

    def __init__(self, body: bytes | Exception) -> None:
        self.body, self.visits = body, 0

    def __call__(self, address: str, timeout: float) -> Any:
        self.visits += 1
        assert address == IAC_EVAL_URL
        assert 0 < timeout <= 60
        if isinstance(self.body, Exception):
            raise self.body
        return io.BytesIO(self.body)


def at_home(monkeypatch: pytest.MonkeyPatch, body: bytes | Exception) -> Home:
    home = Home(body)
    monkeypatch.setattr(urllib.request, "urlopen", home)
    return home


def test_it_is_fetched_once_and_then_read_from_the_cache(
    small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = at_home(monkeypatch, small)
    first = iac_eval_rows(None, cache=tmp_path / "cache")
    assert iac_eval_rows(None, cache=tmp_path / "cache") == first
    assert first[0]["Prompt"] == 'a "big" VPC'
    assert home.visits == 1
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["iac_eval.csv"]


def test_line_ends_and_a_byte_order_mark_do_not_change_what_it_is(
    small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "iac_eval.csv").write_bytes(b"\xef\xbb\xbf" + small.replace(b"\n", b"\r\n"))
    at_home(monkeypatch, AssertionError("nothing is to be fetched"))
    assert iac_eval_rows(tmp_path)[0]["Reference output"].count("\n") == 2


@pytest.mark.parametrize(
    "body",
    [
        pytest.param((HEADER + ROW.replace("big", "small")).encode(), id="another version"),
        pytest.param(b"<html>rate limited</html>", id="a page"),
        pytest.param(b"", id="nothing"),
        pytest.param(HEADER.encode() + b'a,b\n"', id="cut off"),
    ],
)
def test_what_is_not_the_frozen_version_is_refused_and_not_kept(
    small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    at_home(monkeypatch, body)
    with pytest.raises(UsageError, match="IaC-Eval"):
        iac_eval_rows(None, cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_offline_it_says_what_was_tried_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_home(monkeypatch, urllib.error.URLError("Name or service not known"))
    with pytest.raises(NotFoundError) as caught:
        iac_eval_rows(None, cache=tmp_path)
    message = str(caught.value)
    assert IAC_EVAL_URL in message
    assert "Name or service not known" in message
    assert "RL_GYM_DATA" in message


def test_nothing_is_fetched_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_home(monkeypatch, AssertionError("nothing is to be fetched"))
    with pytest.raises(NotFoundError, match="RL_GYM_DATA"):
        iac_eval_rows(None, cache=tmp_path, fetch=False)


def test_an_endless_answer_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "_MOST_BYTES", 1000)
    at_home(monkeypatch, b"x" * 100_000)
    with pytest.raises(UsageError, match="more than"):
        iac_eval_rows(None, cache=tmp_path)


def test_a_cache_that_cannot_be_written_is_one_line(
    small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_home(monkeypatch, small)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        iac_eval_rows(None, cache=tmp_path / "file" / "cache")


def test_a_missing_folder_or_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"iac_eval\.csv"):
        iac_eval_rows(tmp_path)
    with pytest.raises(NotFoundError, match=r"x\.jsonl.*RL_GYM_DATA"):
        json_rows(tmp_path, "x.jsonl")
    with pytest.raises(NotFoundError, match="RL_GYM_DATA"):
        json_rows(None, "x.jsonl")


@pytest.mark.parametrize(("line", "says"), [("{", "not a JSON value"), ("[1]", "must be a JSON object")])
def test_a_broken_row_is_named_with_its_line(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "x.jsonl").write_text('{"id": 1}\n' + line + "\n")
    with pytest.raises(UsageError, match=f"x.jsonl:2: .*{says}"):
        json_rows(tmp_path, "x.jsonl")


def test_the_corpus_of_this_machine_is_the_frozen_version(data_dir: Path) -> None:
    assert len(iac_eval_rows(data_dir)) == 458
