"""GitHub's word about a licence, from a stand-in for its API: asked once, bounded, and the token never shown."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from rl_gym.iac.mining.github import GitHub
from rl_gym.infra.errors import UsageError
from tests.unit.iac.mining.clones import COMMIT
from tests.unit.infra.web import Page, Web

PATH = f"/repos/ada/engine/license?ref={COMMIT}"
NAME = "github.com/ada/engine"


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as one:
        yield one


def says(name: object) -> Page:
    return Page(json.dumps({"license": {"spdx_id": name}, "content": "x" * 1000}).encode())


def test_it_is_asked_once_for_the_commit_and_with_the_token(web: Web) -> None:
    web.pages[PATH] = [says("MPL-2.0")]
    github = GitHub(web.url, "ghp_secret")
    assert [github.licence(NAME, COMMIT) for _ in range(3)] == [("MPL-2.0", "")] * 3
    assert web.asked == [PATH]
    assert web.headers[0]["authorization"] == "Bearer ghp_secret"


def test_without_a_token_none_is_sent(web: Web) -> None:
    web.pages["/repos/ada/engine/license"] = [says("MIT")]
    assert GitHub(f"{web.url}/").licence(NAME, None) == ("MIT", "")
    assert "authorization" not in web.headers[0]


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (says("NOASSERTION"), "GitHub knows no name for its licence"),
        (says(None), "GitHub knows no name for its licence"),
        (says(7), "GitHub knows no name for its licence"),
        (Page(b"", 404), "GitHub knows no licence of it"),
        (Page(b"<html>"), "GitHub answers something else than a licence"),
        (Page(b"[1]"), "GitHub answers something else than a licence"),
        (Page(b"", 500), "GitHub answers 500"),
        (Page(b"half", length=100), "GitHub does not answer: 4 of 100 bytes, then nothing more"),
    ],
)
def test_no_answer_is_no_licence_and_says_why(web: Web, page: Page, why: str) -> None:
    web.pages[PATH] = [page]
    assert GitHub(web.url).licence(NAME, COMMIT) == (None, why)
    assert len(web.asked) <= 3


def test_other_places_are_not_asked_about(web: Web) -> None:
    for name in ("gitlab.com/ada/engine", "engine", "github.com/ada", "github.com/a/b/c"):
        assert GitHub(web.url).licence(name, COMMIT)[0] is None
    assert web.asked == []


def test_a_short_limit_is_waited_for_and_a_long_one_ends_the_questions(web: Web) -> None:
    waited: list[float] = []
    web.pages[PATH] = [Page(b"", 429, {"Retry-After": "7"}), says("MIT")]
    web.pages["/repos/ada/loom/license"] = [Page(b"", 403, {"Retry-After": "3600"})]
    github = GitHub(web.url, sleep=waited.append)
    assert github.licence(NAME, COMMIT) == ("MIT", "")
    assert waited == [7.0]
    assert github.licence("github.com/ada/loom", None)[0] is None
    assert github.licence("github.com/ada/punch", None) == (None, "the limit on questions to GitHub is reached")
    assert "/repos/ada/punch/license" not in web.asked


def test_a_renamed_repository_is_found_and_a_foreign_place_is_not_asked(web: Web) -> None:
    web.pages[PATH] = [Page(b"", 301, {"Location": f"{web.url}/repositories/1/license"})]
    web.pages["/repositories/1/license"] = [says("ISC")]
    assert GitHub(web.url, "ghp_secret").licence(NAME, COMMIT) == ("ISC", "")
    with Web() as other:
        web.pages[PATH] = [Page(b"", 301, {"Location": f"{other.url}/license"})]
        assert GitHub(web.url, "ghp_secret").licence(NAME, COMMIT)[0] is None
        assert other.asked == []


def test_a_token_that_is_refused_ends_it_and_is_not_shown(web: Web) -> None:
    web.pages[PATH] = [Page(b"Bad credentials", 401)]
    with pytest.raises(UsageError, match="does not take the token") as caught:
        GitHub(web.url, "ghp_secret").licence(NAME, COMMIT)
    assert "ghp_secret" not in str(caught.value)
    with pytest.raises(UsageError) as caught:
        GitHub(web.url, "ghp_secret\nX-Other: 1")
    assert "ghp_secret" not in str(caught.value)
