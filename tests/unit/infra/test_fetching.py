"""Fetching one document from the web: whole, bounded, and headers for the address alone that they were meant for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.infra.fetching import UnreachableError, fetch
from tests.unit.infra.web import Page, Web


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as one:
        yield one


def test_a_document_comes_with_its_status(web: Web) -> None:
    web.pages = {"/a": [Page(b"yes", headers={"X-One": "1"})], "/b": [Page(b"no", 404)]}
    answer = fetch(f"{web.url}/a", most_bytes=10, seconds=10)
    assert (answer.status, answer.body, answer.headers["x-one"]) == (200, b"yes", "1")
    refused = fetch(f"{web.url}/b", most_bytes=10, seconds=10)
    assert (refused.status, refused.body) == (404, b"no")


def test_a_document_that_is_too_large_is_refused(web: Web) -> None:
    web.pages["/a"] = [Page(b"x" * 300_000)]
    with pytest.raises(UsageError, match="more than 1 KiB"):
        fetch(f"{web.url}/a", most_bytes=1024, seconds=10)


def test_half_a_document_is_none(web: Web) -> None:
    web.pages["/a"] = [Page(b"half", length=8)]
    with pytest.raises(UnreachableError, match="4 of 8 bytes"):
        fetch(f"{web.url}/a", most_bytes=100, seconds=10)


def test_time_is_bounded(web: Web) -> None:
    web.pages["/a"] = [Page(b"x" * 200_000)]
    with pytest.raises(UnreachableError):
        fetch(f"{web.url}/a", most_bytes=1 << 20, seconds=1e-6)


def test_a_token_goes_nowhere_else(web: Web) -> None:
    with Web() as other:
        web.pages["/a"] = [Page(b"", 302, {"Location": f"{other.url}/b"})]
        answer = fetch(f"{web.url}/a", most_bytes=10, seconds=10, headers={"Authorization": "x"}, follow=False)
        assert answer.status == 302
        assert other.asked == []


@pytest.mark.parametrize("url", ["file:///x", "ftp://localhost/x", "http:///x", "data.csv", "http://[x/"])
def test_only_the_web_is_asked(url: str) -> None:
    with pytest.raises(UsageError, match="no address of the web"):
        fetch(url, most_bytes=10, seconds=1)
