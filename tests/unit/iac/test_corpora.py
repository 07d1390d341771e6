"""The corpora's files: found, fetched once, refused when they are not what was frozen, and honest when offline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rl_gym.iac import corpora
from rl_gym.iac.corpora import fetch_iac_eval, iac_eval_rows, json_rows
from rl_gym.infra.errors import NotFoundError, UsageError
from tests.unit.infra.web import Page, Web

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


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as one:
        yield one


def test_it_is_fetched_once_and_then_read(small: bytes, tmp_path: Path, web: Web) -> None:
    web.pages["/data.csv"] = [Page(small)]
    first = fetch_iac_eval(tmp_path / "cache", f"{web.url}/data.csv")
    assert iac_eval_rows(None, cache=tmp_path / "cache") == first
    assert first[0]["Prompt"] == 'a "big" VPC'
    assert web.asked == ["/data.csv"]
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["iac_eval.csv"]


def test_where_it_is_moved_to_is_followed(small: bytes, tmp_path: Path, web: Web) -> None:
    web.pages = {"/a": [Page(b"", 302, {"Location": "/b"})], "/b": [Page(small)]}
    assert len(fetch_iac_eval(tmp_path, f"{web.url}/a")) == 1


def test_line_ends_and_a_byte_order_mark_do_not_change_what_it_is(small: bytes, tmp_path: Path) -> None:
    (tmp_path / "iac_eval.csv").write_bytes(b"\xef\xbb\xbf" + small.replace(b"\n", b"\r\n"))
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
def test_what_is_not_the_frozen_version_is_refused_and_what_was_there_stays(
    small: bytes, tmp_path: Path, web: Web, body: bytes
) -> None:
    (tmp_path / "iac_eval.csv").write_bytes(b"older")
    web.pages["/data.csv"] = [Page(body)]
    with pytest.raises(UsageError, match="IaC-Eval"):
        fetch_iac_eval(tmp_path, f"{web.url}/data.csv")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"iac_eval.csv": b"older"}


def test_an_answer_that_breaks_off_is_asked_for_again(small: bytes, tmp_path: Path, web: Web) -> None:
    web.pages["/data.csv"] = [Page(small[:50], length=len(small)), Page(b"", 503), Page(small)]
    assert len(fetch_iac_eval(tmp_path, f"{web.url}/data.csv")) == 1
    assert len(web.asked) == 3


def test_an_answer_that_breaks_off_each_time_is_told_and_not_kept(small: bytes, tmp_path: Path, web: Web) -> None:
    web.pages["/data.csv"] = [Page(small[:50], length=len(small))]
    with pytest.raises(NotFoundError, match=rf"50 of {len(small)} bytes"):
        fetch_iac_eval(tmp_path / "cache", f"{web.url}/data.csv")
    assert len(web.asked) == 3
    assert not (tmp_path / "cache").exists()


def test_a_page_that_is_not_there_is_asked_for_once(tmp_path: Path, web: Web) -> None:
    with pytest.raises(NotFoundError, match="HTTP status 404"):
        fetch_iac_eval(tmp_path, f"{web.url}/gone")
    assert len(web.asked) == 1


def test_offline_it_says_what_was_tried_and_what_to_do(tmp_path: Path) -> None:
    with Web() as gone:
        url = gone.url
    with pytest.raises(NotFoundError) as caught:
        fetch_iac_eval(tmp_path, url)
    message = str(caught.value)
    assert url in message
    assert "refused" in message
    assert "RL_GYM_DATA" in message


def test_nothing_is_fetched_unasked(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"RL_GYM_DATA.*rl-gym data fetch"):
        iac_eval_rows(None, cache=tmp_path, fetch=False)


def test_a_cache_that_cannot_be_written_is_one_line(small: bytes, tmp_path: Path, web: Web) -> None:
    (tmp_path / "file").write_text("")
    web.pages["/data.csv"] = [Page(small)]
    with pytest.raises(UsageError, match=r"IaC-Eval was fetched, but .* could not be written"):
        fetch_iac_eval(tmp_path / "file" / "cache", f"{web.url}/data.csv")


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


def test_a_row_may_hold_what_some_take_for_the_end_of_a_line(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"hcl": "a\u2028b\u2029c\x85d"}\n', "utf-8")
    assert json_rows(tmp_path, "x.jsonl") == [{"hcl": "a\u2028b\u2029c\x85d"}]


def test_the_corpus_of_this_machine_is_the_frozen_version(data_dir: Path) -> None:
    assert len(iac_eval_rows(data_dir)) == 458
