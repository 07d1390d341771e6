"""`.rl-gym.toml`: where it is found, what it may say, and how a mistake in it is told."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rl_gym.cli.project_file import find_project_file, read_project_file
from rl_gym.infra.errors import UsageError

WHOLE = """
ruleset = "base+drift"
engine = ["builtin", "opa"]
format = "github"
output = "out/report.txt"
fail-on = "high"
required = "aws_vpc"
var-file = ["prod.tfvars"]
baseline = "known.json"
rules = "rules"

[severity]
tags = "off"
"s3_lifecycle" = "low"

[[waiver]]
rule = "rds_public"
address = "aws_db_instance.play*"
path = "sandbox/*"
reason = "a playground"
expires = 2027-01-31

[[waiver]]
rule = "tags"
reason = "moving house"
expires = "2027-03-01"
"""


def _write(folder: Path, text: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".rl-gym.toml"
    path.write_text(text)
    return str(path)


def test_every_key_is_read_and_paths_are_from_its_folder(tmp_path: Path) -> None:
    project = read_project_file(_write(tmp_path, WHOLE))
    assert project.options == {
        "ruleset": "base+drift",
        "engine": ["builtin", "opa"],
        "format": "github",
        "output": f"{tmp_path}/out/report.txt",
        "fail-on": "high",
        "required": ["aws_vpc"],
        "var-file": [f"{tmp_path}/prod.tfvars"],
        "baseline": f"{tmp_path}/known.json",
        "rules": f"{tmp_path}/rules",
        "severity": {"tags": "off", "s3_lifecycle": "low"},
    }
    play, moving = project.waivers
    assert (play.rule, play.address, play.path, play.reason) == (
        "rds_public",
        "aws_db_instance.play*",
        "sandbox/*",
        "a playground",
    )
    assert (play.expires, moving.expires) == (date(2027, 1, 31), date(2027, 3, 1))
    assert (play.folder, play.origin) == (str(tmp_path), f"{tmp_path}/.rl-gym.toml:16")
    assert moving.origin.endswith(":23")
    assert (moving.address, moving.path) == ("*", "*")


def test_the_nearest_file_above_is_found(tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    _write(tmp_path, "")
    assert find_project_file(str(tmp_path / "a" / "b")) == "../../.rl-gym.toml"
    _write(tmp_path / "a", "")
    assert find_project_file(str(tmp_path / "a" / "b")) == "../.rl-gym.toml"
    assert find_project_file(str(tmp_path / "a")) == ".rl-gym.toml"


def test_the_search_ends_where_a_repository_does(tmp_path: Path) -> None:
    _write(tmp_path, "")
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "infra").mkdir()
    assert find_project_file(str(tmp_path / "repository" / "infra")) is None
    _write(tmp_path / "repository", "")
    assert find_project_file(str(tmp_path / "repository" / "infra")) == "../.rl-gym.toml"


WAIVER = '[[waiver]]\nrule = "a"\nreason = "b"\nexpires = 2027-01-31\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nfail_on = 1\n", ":2: 'fail_on' is no key: did you mean 'fail-on'?"),
        ("[colours]\n", ":1: 'colours' is no key: the keys are ruleset, format, fail-on"),
        ("ruleset = 3\n", ":1: 'ruleset' takes a text"),
        ('\n\nruleset = ""\n', ":3: 'ruleset' takes a text"),
        ("engine = 3\n", ":1: 'engine' takes a list of texts"),
        ('engine = ["a", 3]\n', ":1: 'engine' takes a text"),
        ("severity = 3\n", ":1: 'severity' is a table: write [severity]"),
        ("[severity]\na = 'low'\nb = 1\n", ":3: 'b' takes a text"),
        ("[waiver]\n", ":1: 'waiver' is a list of tables: write [[waiver]]"),
        ("waiver = [3]\n", ":1: 'waiver[0]' is a table"),
        (WAIVER + '[[waiver]]\nrule = "a"\n', ":5: 'waiver[1]' lacks reason and expires"),
        (WAIVER + 'adress = "x"\n', ":5: 'adress' is no key: did you mean 'address'?"),
        (WAIVER.replace("2027-01-31", '"soon"'), ":4: 'expires' takes a day, as in 2027-01-31"),
        (WAIVER.replace("2027-01-31", "2027-01-31T00:00:00"), ":4: 'expires' takes a day"),
        (WAIVER.replace('"b"', '""'), ":3: 'reason' takes a text"),
        (WAIVER.replace('"b"', '" \\t"'), ":3: 'reason' takes a text"),
        ("a = 1\nb = = 2\n", ":2:5: not TOML: Invalid value"),
        ("a = [", ": not TOML: "),
        ("a = " + "[" * 10_000, ": not TOML: nested too deep"),
        ("a = " + "1" * 5_000, ": not TOML that can be read: a whole number in it is too long"),
        ("a = 1\na = 2\n", ":2:6: not TOML: Cannot overwrite a value"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        read_project_file(path)
    assert str(refused.value).startswith(path + message)
