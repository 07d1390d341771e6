"""`rl-gym data`: the corpus fetched by a verb, and cloned modules made into episodes that a run can use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rl_gym.cli.main import main
from rl_gym.iac.corpora import IAC_EVAL_FILE
from rl_gym.iac.mined import read_mined
from tests.unit.iac.mining.clones import COMMIT, clone, resource
from tests.unit.infra.web import Page, Web

DATABASE = resource("aws_glue_catalog_database", name='"db"')


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user who runs the tests is read or written."""
    for name in ("RL_GYM_DATA", "RL_GYM_IAC_EVAL_URL", "RL_GYM_GITHUB_URL", "RL_GYM_GITHUB_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as one:
        yield one


@pytest.fixture
def corpus(data_dir: Path) -> bytes:
    return (data_dir / IAC_EVAL_FILE).read_bytes()


class TestFetch:
    def test_it_fills_the_cache_once(
        self, web: Web, corpus: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        web.pages["/x.csv"] = [Page(corpus)]
        for said in ("fetched and checked, 458 rows", "was there already, 458 rows"):
            assert main(["data", "fetch", "--url", f"{web.url}/x.csv"]) == 0
            assert said in capsys.readouterr().out
        assert web.asked == ["/x.csv"]
        assert (tmp_path / "cache" / "rl-gym" / IAC_EVAL_FILE).read_bytes() == corpus

    def test_a_damaged_file_is_replaced_in_the_folder_that_is_named(
        self, web: Web, corpus: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / IAC_EVAL_FILE).write_bytes(corpus[:1000])
        web.pages["/x.csv"] = [Page(corpus)]
        monkeypatch.setenv("RL_GYM_DATA", str(tmp_path))
        monkeypatch.setenv("RL_GYM_IAC_EVAL_URL", f"{web.url}/x.csv")
        assert main(["data", "fetch"]) == 0
        assert (tmp_path / IAC_EVAL_FILE).read_bytes() == corpus

    def test_what_is_not_the_corpus_is_one_line_and_not_kept(
        self, web: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        web.pages["/x.csv"] = [Page(b"<html>busy</html>")]
        assert main(["data", "fetch", "--to", str(tmp_path / "to"), "--url", f"{web.url}/x.csv"]) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1
        assert not (tmp_path / "to").exists()

    def test_offline_is_one_line(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with Web() as gone:
            url = gone.url
        assert main(["data", "fetch", "--to", str(tmp_path / "to"), "--url", url]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "could not be fetched" in line


class TestMine:
    def test_episodes_are_written_and_the_table_says_what_was_left(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clone(tmp_path / "in" / "a", "https://github.com/ada/a", {"main.tf": DATABASE, "b/main.tf": "{{"})
        clone(tmp_path / "in" / "b", "https://github.com/ada/b", {"main.tf": DATABASE}, None)
        out = tmp_path / "out"
        assert main(["data", "mine", str(tmp_path / "in"), "--out", str(out), "--holdout-share", "0"]) == 0
        shown = capsys.readouterr().out
        assert "3 modules in 2 repositories" in shown
        assert "1    no licence" in " ".join(shown.split("\n"))
        assert "1    not well formed" in " ".join(shown.split("\n"))
        assert [episode.id for episode in read_mined(out).train] == ["github.com/ada/a:."]
        skipped = [json.loads(line) for line in (out / "skipped.jsonl").read_text().splitlines()]
        assert {one["reason"] for one in skipped} == {"no licence", "not well formed"}
        assert next(one for one in skipped if one["path"] == "b")["detail"].startswith("main.tf:1: ")

    def test_where_nothing_is_made_nothing_is_written(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        clone(tmp_path / "in", None, {"main.tf": DATABASE}, None)
        assert main(["data", "mine", str(tmp_path / "in"), "--out", str(tmp_path / "out")]) == 1
        said = capsys.readouterr()
        assert "no licence" in said.out
        assert "nothing is written" in said.err
        assert not (tmp_path / "out").exists()

    def test_github_is_asked_at_the_address_that_is_set(
        self, web: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clone(tmp_path / "in", "https://github.com/ada/a", {"main.tf": DATABASE}, None)
        web.pages[f"/repos/ada/a/license?ref={COMMIT}"] = [Page(b'{"license": {"spdx_id": "MIT"}}')]
        monkeypatch.setenv("RL_GYM_GITHUB_URL", web.url)
        monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret\n")
        command = ["data", "mine", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--holdout-share", "0"]
        assert main(command) == 1
        assert web.asked == []
        assert main([*command, "--github"]) == 0
        assert web.headers[0]["authorization"] == "Bearer ghp_secret"
        (row,) = (tmp_path / "out" / "train.jsonl").read_text().splitlines()
        assert json.loads(row)["attribution"]["licence_told_by"] == "GitHub"
        said = capsys.readouterr()
        assert "ghp_secret" not in said.out + said.err + row

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            (["--licence", "any licence"], "no SPDX name"),
            (["--holdout-share", "2"], "[0, 0.9]"),
            (["--longest", "1"], "200 to 60000"),
            (["--out", "."], "none of mined episodes"),
        ],
    )
    def test_a_mistake_is_one_line(
        self,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        more: list[str],
        says: str,
    ) -> None:
        clone(tmp_path / "in", None, {"main.tf": DATABASE})
        monkeypatch.chdir(tmp_path)
        assert main(["data", "mine", "in", "--out", "out", *more]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert says in line

    def test_a_folder_that_is_not_there_is_named(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["data", "mine", str(tmp_path / "no"), "--out", str(tmp_path / "out")]) == 1
        assert "there is no such folder" in capsys.readouterr().err
