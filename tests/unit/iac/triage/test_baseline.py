"""The baseline: what was there is known, however it moves; what is new, or more than it was, is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rl_gym.iac.triage import JudgedModule
from rl_gym.iac.triage.baseline import read_baseline, write_baseline
from rl_gym.infra.errors import UsageError


@pytest.fixture(autouse=True)
def _at_the_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


_ENTRY = {"engine": "builtin", "rule": "r", "address": "a", "path": "p"}


def _counting(module: JudgedModule) -> int:
    return sum(issue.counts for issue in module.issues)


def test_what_was_there_is_known_wherever_it_moves(module: JudgedModule) -> None:
    assert write_baseline("known.json", [module]) == _counting(module) > 0
    moved = replace(module, issues=[replace(issue, line=issue.line + 7) for issue in module.issues])
    (after,), gone = read_baseline("known.json").applied([moved])
    assert (_counting(after), gone) == (0, 0)
    assert {issue.suppression.kind for issue in after.issues if issue.suppression} == {"known"}
    assert all(issue.suppression is None for issue in after.issues if issue.verdict == "unknown")


def test_more_of_the_same_is_new(module: JudgedModule) -> None:
    write_baseline("known.json", [module])
    twice = replace(module, issues=[*module.issues, replace(module.issues[0], line=50)])
    (after,), _ = read_baseline("known.json").applied([twice])
    assert [issue.line for issue in after.issues if issue.counts] == [50]


@pytest.mark.parametrize("change", [{"address": "aws_db_instance.other"}, {"path": "infra/other.tf"}, {"rule": "new"}])
def test_what_is_about_something_else_is_new(module: JudgedModule, change: dict[str, str]) -> None:
    write_baseline("known.json", [module])
    other = replace(module, issues=[replace(module.issues[0], **change), *module.issues[1:]])
    (after,), gone = read_baseline("known.json").applied([other])
    assert (_counting(after), gone) == (1, 1)


def test_paths_are_from_the_folder_of_the_baseline(
    module: JudgedModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "infra").mkdir()
    write_baseline("known.json", [module])
    monkeypatch.chdir(tmp_path / "infra")
    seen = [replace(issue, path=Path(issue.path).name) for issue in module.issues]
    (after,), _ = read_baseline("../known.json").applied([replace(module, issues=seen)])
    assert _counting(after) == 0


def test_writing_twice_writes_the_same(module: JudgedModule, tmp_path: Path) -> None:
    write_baseline("a.json", [module])
    (known,), _ = read_baseline("a.json").applied([module])
    write_baseline("b.json", [replace(known, issues=list(reversed(known.issues)))])
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "known.json:1:2: not JSON"),
        ("[]", "known.json: not a baseline of version 1"),
        ("{}", "known.json: not a baseline of version 1"),
        ('{"version": 2, "findings": []}', "known.json: not a baseline of version 1"),
        ('{"version": 1, "findings": [{"rule": "x"}]}', "known.json: not a baseline of version 1"),
        ('{"version": 1, "findings": 3}', "known.json: not a baseline of version 1"),
        ("[" * 100_000, "known.json: not JSON that can be read: it is nested too deep"),
        ("1" * 5_000, "known.json: not JSON that can be read: a whole number in it is too long"),
        *[
            (json.dumps({"version": 1, "findings": [{**_ENTRY, "count": count}]}), "not a baseline of version 1")
            for count in (0, -1, 1.5, True, "1")
        ],
        (
            json.dumps({"version": 1, "findings": [{"engine": [], "rule": "", "address": "", "path": "", "count": 1}]}),
            "not",
        ),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "known.json").write_text(text)
    with pytest.raises(UsageError) as refused:
        read_baseline("known.json")
    assert message in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_one_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^known\.json: No such file or directory: write it with --write-baseline$"):
        read_baseline("known.json")
