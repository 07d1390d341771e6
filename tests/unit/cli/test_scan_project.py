"""`rl-gym scan` in a project: settings, baseline, waivers, severities and own rules, and that no reward sees them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from rl_gym.cli.main import main
from rl_gym.iac.scan import score

DATABASE = """
resource "aws_db_instance" "d" {
  instance_class          = "db.t4g.small"
  publicly_accessible     = true
  backup_retention_period = 7
  storage_encrypted       = true
  tags                    = { Name = "d" }
}
"""
OWN_RULE = '''
from rl_gym.iac.rules import rule
from rl_gym.iac.verdicts import Answer

@rule("acme_size", severity="low", types=("aws_db_instance",), title="Databases are large", fix="take db.r6g.large")
def acme_size(resource, context):
    """Small ones are slow."""
    return Answer("fail", "it is small", "instance_class")
'''
NEVER = "expires = 9999-12-31"
WAIVER = f'[[waiver]]\nrule = "rds_public"\naddress = "aws_db_instance.d"\nreason = "a playground"\n{NEVER}\n'
BASE = "--ruleset", "seed18"


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "main.tf").write_text(DATABASE)


def _scan(*arguments: str, settings: str | None = None) -> int:
    if settings is not None:
        Path(".rl-gym.toml").write_text(settings)
    return main(["scan", "infra", *BASE, *arguments])


def _issues(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    capsys.readouterr()
    _scan("--format", "json")
    (module,) = json.loads(capsys.readouterr().out)["modules"]
    return {issue["rule"]: issue for issue in module["issues"]}


def test_without_a_project_it_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert _scan() == 1
    assert capsys.readouterr().out.endswith("1 finding in 1 file: 1 critical\n")


def test_settings_are_flags_that_nobody_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert _scan(settings='format = "json"\nfail-on = "high"\n') == 1
    assert json.loads(capsys.readouterr().out)["version"] == 1
    assert main(["scan", "infra", "--format", "table"]) == 1
    assert "finding" in capsys.readouterr().out
    Path("other.toml").write_text("fail-on = 1\n")
    assert _scan("--config", "other.toml") == 2
    assert capsys.readouterr().err == "error: other.toml:1: 'fail-on' takes a text\n"
    assert _scan("--config", "nowhere.toml") == 2
    assert _scan("--no-config") == 1
    assert "1 critical" in capsys.readouterr().out


def test_a_baseline_leaves_what_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    assert _scan("--write-baseline", "known.json") == 0
    assert capsys.readouterr().out == "known.json: 1 known finding\n"
    assert _scan("--baseline", "known.json") == 0
    assert capsys.readouterr().out.endswith("no findings; not shown: 1 known\n")
    Path("infra/main.tf").write_text("\n\n" + DATABASE + DATABASE.replace('"d"', '"e"'))
    assert _scan(settings='baseline = "known.json"\n') == 1
    printed = capsys.readouterr().out
    assert "aws_db_instance.e: the database is public" in printed
    assert "aws_db_instance.d" not in printed
    Path("infra/main.tf").write_text("")
    assert _scan() == 0
    assert capsys.readouterr().err == "warning: known.json: 1 known finding no longer there: write it again\n"


def test_a_baseline_of_half_a_scan_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("infra/sub").mkdir()
    Path("infra/sub/main.tf").write_text("{")
    assert _scan("--write-baseline", "known.json") == 2
    assert "known.json is not written: not everything could be judged" in capsys.readouterr().err
    assert not Path("known.json").exists()


def test_a_waiver_excuses_and_stays_visible(capsys: pytest.CaptureFixture[str]) -> None:
    assert _scan(settings=WAIVER) == 0
    printed = capsys.readouterr()
    assert printed.out.endswith("no findings; not shown: 1 waived\n")
    assert printed.err == ""
    assert _issues(capsys)["rds_public"]["suppression"] == {
        "kind": "waived",
        "reason": "waived until 9999-12-31: a playground",
    }


def test_a_waiver_that_ended_counts_again_and_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert _scan(settings=WAIVER.replace("9999-12-31", "2020-02-29")) == 1
    assert capsys.readouterr().err == (
        "warning: .rl-gym.toml:1: the waiver of rds_public for aws_db_instance.d ended on 2020-02-29: "
        "what it covers counts again\n"
    )


def test_a_waiver_for_nothing_is_told_of_a_folder_alone(capsys: pytest.CaptureFixture[str]) -> None:
    settings = WAIVER.replace("instance.d", "instance.gone")
    assert _scan(settings=settings) == 1
    assert "aws_db_instance.gone is for nothing that was found" in capsys.readouterr().err
    assert main(["scan", "infra/main.tf", *BASE]) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("settings", "arguments", "code"),
    [
        ('fail-on = "high"\n[severity]\nrds_public = "low"\n', [], 0),
        ('[severity]\nrds_public = "off"\n', [], 0),
        ('[severity]\nrds_public = "off"\n', ["--severity", "rds_public=low"], 1),
        ("", ["--severity", "rds_public=off"], 0),
    ],
)
def test_severities_are_the_project_s(settings: str, arguments: Sequence[str], code: int) -> None:
    assert _scan(*arguments, settings=settings) == code


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ('[severity]\n\nrds_publik = "low"\n', [], ".rl-gym.toml:3: there is no rule 'rds_publik': did you mean"),
        (WAIVER.replace("rds_public", "rds_publik"), [], ".rl-gym.toml:1: there is no rule 'rds_publik': did you mean"),
        ('[severity]\nrds_public = "dire"\n', [], ".rl-gym.toml:2: the severity of rds_public is one of critical,"),
        ("", ["--severity", "rds_public=dire"], "--severity: the severity of rds_public is one of"),
        ("", ["--severity", "rds_public"], "--severity takes RULE=LEVEL, not 'rds_public'"),
        ('fail-on = "dire"\n', [], ".rl-gym.toml:1: 'fail-on' is one of critical, high, medium, low, not 'dire'"),
        ('format = "xml"\n', [], ".rl-gym.toml:1: 'format' is one of table, json, sarif, junit, github, not 'xml'"),
        ('rules = "nowhere"\n', [], "nowhere: there is no such folder of rules"),
        ("", ["--baseline", "nowhere.json"], "nowhere.json: No such file or directory"),
        ("", ["--config", "a", "--no-config"], "not allowed with argument"),
    ],
)
def test_a_mistake_is_one_line_and_2(
    capsys: pytest.CaptureFixture[str], settings: str, arguments: Sequence[str], message: str
) -> None:
    assert _scan(*arguments, settings=settings) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1


def test_names_of_other_engines_are_in_no_list() -> None:
    names = ("CKV_AWS_16", "terraform.deny", "Missing required argument", "ckv_*")
    levels = "".join(f'"{name}" = "off"\n' for name in names)
    waivers = "".join(WAIVER.replace("rds_public", name) for name in names)
    assert _scan(settings=f"[severity]\n{levels}{waivers}{WAIVER}") == 0


def test_own_rules_are_findings(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rules").mkdir()
    Path("rules/size.py").write_text(OWN_RULE)
    assert _scan("--fail-on", "low", settings='rules = "rules"\n[severity]\nrds_public = "off"\n') == 1
    assert "infra/main.tf:3  low  acme_size  aws_db_instance.d: it is small" in capsys.readouterr().out
    assert _scan("--severity", "acme_size=off") == 0


def test_an_own_rule_that_fails_is_told_once_and_hides_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rules").mkdir()
    Path("rules/size.py").write_text(OWN_RULE.replace('Answer("fail"', 'nothing("fail"'))
    Path("other").mkdir()
    Path("other/main.tf").write_text(DATABASE.replace('"d"', '"e"') + DATABASE)
    assert main(["scan", "infra", "other", *BASE, "--rules", "rules"]) == 2
    printed = capsys.readouterr()
    (said,) = printed.err.splitlines()
    assert said.startswith("error: rules/size.py:8: rule acme_size failed on aws_db_instance.d: NameError")
    assert "infra/main.tf:4  critical  rds_public" in printed.out
    assert printed.out.count("rds_public") == 3
    assert main(["scan", "infra", *BASE, "--rules", "rules", "--format", "sarif"]) == 2
    (invocation,) = json.loads(capsys.readouterr().out)["runs"][0]["invocations"]
    assert not invocation["executionSuccessful"]
    assert _scan("--rules", "rules", "--write-baseline", "known.json") == 2


def test_no_reward_sees_any_of_it() -> None:
    before = score(DATABASE)
    Path("rules").mkdir()
    Path("rules/size.py").write_text(OWN_RULE)
    _scan("--write-baseline", "known.json")
    _scan(settings=f'baseline = "known.json"\nrules = "rules"\n[severity]\nrds_backup = "off"\n{WAIVER}')
    after = score(DATABASE)
    assert (after.reward, after.gates, after.digest) == (before.reward, before.gates, before.digest)
