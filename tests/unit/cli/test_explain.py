"""`rl-gym explain`: a rule by name or by what it answers to, as a page, a list, or JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rl_gym.cli.main import main
from rl_gym.iac.rules import all_rules
from rl_gym.iac.scan import scan


def test_a_page_tells_what_why_and_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "rds_public"]) == 0
    printed = capsys.readouterr().out
    rule = all_rules()["rds_public"]
    assert printed.startswith(f"rds_public  critical  {rule.title}\n")
    for text in (
        "CKV_AWS_17",
        "FSBP RDS.2",
        "fix       set publicly_accessible = false",
        "aws_db_instance",
        "weight    8",
    ):
        assert text in printed
    assert " ".join(rule.why.split("\n")[0].split()) in " ".join(printed.split())
    for example in (rule.failing, rule.passing):
        assert all(f"  {line}".rstrip() in printed for line in example.splitlines())


@pytest.mark.parametrize("rule", all_rules())
def test_every_rule_has_a_page_whose_examples_do_as_they_say(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", rule, "--format", "json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert page["id"] == rule
    assert page["why"]
    assert page["references"]
    assert scan(page["failing"], ruleset="base+drift").verdict(rule) == "fail"
    assert scan(page["passing"], ruleset="base+drift").verdict(rule) == "pass"
    assert main(["explain", rule]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 140


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: len(all_rules())]] == list(all_rules())
    assert lines[-1].startswith(f"{len(all_rules())} rules;")
    assert main(["explain", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(all_rules())


@pytest.mark.parametrize("name", ["CKV_AWS_17", "ckv_aws_17", "FSBP RDS.2", "RDS_PUBLIC"])
def test_a_rule_is_found_by_what_it_answers_to(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", name]) == 0
    assert capsys.readouterr().out.startswith(f"{name} is covered by rds_public\n\nrds_public  critical")


def test_a_check_may_have_several_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "CKV_AWS_45", "--format", "json"]) == 0
    assert [rule["id"] for rule in json.loads(capsys.readouterr().out)] == [
        "hardcoded_secret",
        "lambda_plaintext_secrets",
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rds_publik", "there is no rule 'rds_publik': did you mean rds_public"),
        ("zzz", "there is no rule 'zzz': `rl-gym explain` lists them"),
        ("CKV_AWS_9999", "no rule covers CKV_AWS_9999"),
        ("schema", "schema is no rule, but what Terraform would refuse"),
    ],
)
def test_an_unknown_rule_is_one_line_and_1(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", name]) == 1
    printed = capsys.readouterr()
    assert message in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_own_rules_are_explained_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.py").write_text(
        "from rl_gym.iac.rules import rule\n"
        "@rule('acme', severity='low', types=('aws_vpc',), title='T', fix='F')\n"
        "def acme(resource, context):\n    '''Because.'''\n"
    )
    assert main(["explain", "acme", "--rules", str(tmp_path)]) == 0
    assert "Because." in capsys.readouterr().out
