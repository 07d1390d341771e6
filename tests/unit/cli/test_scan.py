"""`rl-gym scan`: what it reads, what it prints, and its exit codes."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rl_gym.cli.main import main

SAFE = 'resource "aws_kms_key" "k" {\n  enable_key_rotation = true\n  tags                = { Name = "k" }\n}\n'
PLAIN = 'resource "aws_kms_key" "k" {\n  description = "k"\n  tags        = { Name = "k" }\n}\n'
PUBLIC = 'resource "aws_db_instance" "d" {\n  engine              = "mysql"\n  publicly_accessible = true\n}\n'


def _write(folder: Path, **files: str) -> str:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path = path.with_name(f"{path.name}.tf")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder)


def _scan(*arguments: str) -> int:
    return main(["scan", *arguments])


def _rows(printed: str) -> list[list[str]]:
    """The cells of each line of a table whose columns are two or more blanks apart."""
    return [re.split(r" {2,}", line.strip()) for line in printed.splitlines()]


def test_clean_is_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _scan(_write(tmp_path, main=SAFE)) == 0
    printed = capsys.readouterr()
    assert "kms_rotation" in printed.out
    assert "security" in printed.out
    assert printed.err == ""


def test_findings_are_1_with_file_line_and_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _write(tmp_path, main=PLAIN, database=PUBLIC)
    assert _scan(folder) == 1
    printed = capsys.readouterr().out
    rows = _rows(printed)
    assert [f"{folder}/database.tf:3", "critical", "rds_public", "aws_db_instance.d: the database is public"] in rows
    assert "fix: set publicly_accessible = false" in printed
    assert [f"{folder}/main.tf:1", "medium", "kms_rotation"] in [row[:3] for row in rows]
    assert "\x1b[" not in printed


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--fail-on", "critical"], 0),
        (["--fail-on", "high"], 0),
        (["--fail-on", "medium"], 1),
        ([], 1),
        (["--fail-on", "high", "--required", "aws_kms_key"], 0),
        (["--fail-on", "high", "--required", "aws_kms_key,aws_vpc"], 1),
    ],
)
def test_what_fails_can_be_chosen(tmp_path: Path, arguments: Sequence[str], code: int) -> None:
    assert _scan(_write(tmp_path, main=PLAIN), *arguments) == code


def test_unknown_is_shown_and_does_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hcl = 'variable "v" {}\n' + SAFE.replace("= true", "= var.v")
    assert _scan(_write(tmp_path, main=hcl)) == 0
    assert "unknown  kms_rotation" in capsys.readouterr().out


def test_json_holds_every_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _write(tmp_path, a__main=SAFE, b__main=PUBLIC)
    assert _scan(folder, "--format", "json", "--ruleset", "seed18") == 1
    modules = {module["path"]: module for module in json.loads(capsys.readouterr().out)["modules"]}
    assert set(modules) == {f"{folder}/a", f"{folder}/b"}
    assert modules[f"{folder}/a"]["findings"] == []
    assert modules[f"{folder}/b"]["findings"][0]["rule"] == "rds_public"
    assert modules[f"{folder}/b"]["ruleset"]["name"] == "seed18"


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(PUBLIC))
    assert _scan("-", "--fail-on", "critical") == 1
    assert ["main.tf:3", "critical", "rds_public"] in [row[:3] for row in _rows(capsys.readouterr().out)]


def test_files_of_one_folder_are_one_module(tmp_path: Path) -> None:
    folder = _write(
        tmp_path, main=SAFE.replace("= true", "= var.v"), variables='variable "v" {\n  default = false\n}\n'
    )
    assert _scan(f"{folder}/main.tf", f"{folder}/variables.tf") == 1
    assert _scan(f"{folder}/main.tf") == 0


def test_what_is_required_is_built_by_one_of_the_modules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _write(tmp_path, a__main=SAFE, b__main='resource "aws_eip" "e" {\n  domain = "vpc"\n}\n', c__main="")
    high = ("--fail-on", "high")
    assert _scan(folder, "--required", "aws_eip", *high) == 0
    assert "✘ builds_required" not in capsys.readouterr().out
    assert _scan(folder, "--required", "aws_eip,aws_kms_key", *high) == 1
    assert f"{folder}/a/main.tf:1" in capsys.readouterr().out
    assert _scan(folder, "--required", "aws_vpc", *high) == 1
    assert "builds_required  not all of aws_vpc" in capsys.readouterr().out
    _write(tmp_path, d__main="{")
    assert _scan(folder, "--required", "aws_eip", *high) == 2
    assert "builds_required  not all" not in capsys.readouterr().out


def test_a_value_is_for_the_modules_that_declare_its_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = 'variable "on" {}\n' + SAFE.replace("= true", "= var.on")
    folder = _write(tmp_path, a__main=key, b__main=SAFE)
    assert _scan(folder, "--var", "on=true") == 0
    assert _scan(folder, "--var", "on=false") == 1
    assert _scan(folder, "--var", "on=true", "--fix") == 0
    assert _scan(folder, "--var", "off=true") == 2
    assert capsys.readouterr().err.count("off") == 2


def test_a_called_module_is_judged_with_its_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    child = 'variable "v" {}\n' + SAFE.replace("= true", "= var.v")
    call = 'module "m" {\n  source = "./modules/key"\n  v      = %s\n}\n'
    folder = _write(tmp_path, modules__key__main=child, main=call % "true")
    assert _scan(folder) == 0
    _write(tmp_path, main=call % "false")
    assert _scan(folder) == 1
    assert f"{folder}/modules/key/main.tf" in capsys.readouterr().out


def test_a_module_that_is_named_beside_its_caller_is_judged_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    child = 'variable "v" {}\n' + SAFE.replace("= true", "= var.v")
    call = 'module "m" {\n  source = "../modules/key"\n  v      = true\n}\n'
    folder = _write(tmp_path, infra__main=call, modules__key__main=child)
    assert _scan(f"{folder}/modules", f"{folder}/infra", "--format", "json") == 0
    (module,) = json.loads(capsys.readouterr().out)["modules"]
    assert module["path"] == f"{folder}/infra"


def test_a_module_that_is_not_there_is_told_and_no_alarm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _write(tmp_path, main='\nmodule "m" {\n  source = "../elsewhere"\n}\n')
    assert _scan(folder, "--format", "json") == 0
    (module,) = json.loads(capsys.readouterr().out)["modules"]
    (issue,) = module["issues"]
    assert (issue["rule"], issue["verdict"], issue["address"]) == ("module", "unknown", "module.m")
    assert (issue["path"], issue["line"], issue["column"]) == (f"{folder}/main.tf", 2, 1)
    assert "'../elsewhere' are not here" in issue["reason"]
    assert _scan(folder, "--format", "sarif") == 0
    (invocation,) = json.loads(capsys.readouterr().out)["runs"][0]["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert invocation["executionSuccessful"]
    assert notification["level"] == "warning"


def test_variable_files_are_read(tmp_path: Path) -> None:
    folder = _write(tmp_path, main='variable "v" {}\n' + SAFE.replace("= true", "= var.v"))
    (tmp_path / "terraform.tfvars").write_text("v = true\n")
    assert _scan(folder) == 0
    (tmp_path / "z.auto.tfvars").write_text("v = false\n")
    assert _scan(folder) == 1


def test_variables_may_be_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _write(tmp_path / "module", main='variable "v" {}\n' + SAFE.replace("= true", "= var.v"))
    (tmp_path / "module" / "z.auto.tfvars").write_text("v = false\n")
    on, off = tmp_path / "on.tfvars", tmp_path / "off.tfvars"
    on.write_text("v = true\n")
    off.write_text("v = false\n")
    assert _scan(folder) == 1
    assert _scan(folder, "--var", "v=true") == 0
    assert _scan(folder, "--var-file", str(off), "--var-file", str(on)) == 0
    assert _scan(folder, "--var-file", str(on), "--var-file", str(off)) == 1
    assert _scan(folder, "--var-file", str(off), "--var", "v=true") == 0
    assert _scan(folder, "--var", "v=true", "--var-file", str(off)) == 1
    assert _scan(folder, "--var", "v=false", "--var-file", str(off), "--var", "v=true") == 0
    assert _scan(folder, *["--var-file", str(off)] * 10, "--var-file", str(on)) == 0
    (tmp_path / "module" / "é.auto.tfvars").write_text("v = false\n")
    assert _scan(folder, "--var-file", str(on)) == 0
    on.write_text("v = \n")
    capsys.readouterr()
    assert _scan(folder, "--var-file", str(on)) == 2
    assert capsys.readouterr().err.startswith(f"error: {on}:1:")


def test_what_terraform_keeps_for_itself_is_skipped(tmp_path: Path) -> None:
    assert _scan(_write(tmp_path, **{"main": SAFE, ".terraform__modules__x": PUBLIC})) == 0


def test_a_syntax_error_is_2_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _write(tmp_path, main='resource "aws_kms_key" "k" {\n  description = \n}\n')
    assert _scan(folder) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {folder}/main.tf:2:")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err + printed.out


def test_the_readable_modules_are_judged_beside_an_unreadable_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _scan(_write(tmp_path, a__main="{", b__main=PUBLIC)) == 2
    assert "rds_public" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/no/such/place"], "/no/such/place: there is no such file or folder"),
        ([], "the following arguments are required: PATH"),
        (["-", "--format", "xml"], "invalid choice: 'xml'"),
        (["-", "--fail-on", "dire"], "invalid choice: 'dire'"),
        (["-", "--ruleset", "seed19"], "there is no ruleset 'seed19': choose one of seed18, base, base+drift"),
        (["-", "--var", "v"], "--var takes NAME=VALUE, not 'v'"),
        (["-", "--var-file", "v.txt"], "v.txt: not a file that can be read here"),
        (["-", "--var-file", "/no/such.tfvars"], "/no/such.tfvars: No such file or directory"),
        (["-", "--engine", "tfsec"], "there is no scan engine 'tfsec': choose among builtin"),
    ],
)
def test_wrong_usage_is_2_and_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: Sequence[str], message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(SAFE))
    assert _scan(*arguments) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.startswith("error: ")
    assert printed.count("\n") == 1


def test_a_plan_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = {"address": "aws_db_instance.d", "mode": "managed", "type": "aws_db_instance", "name": "d"}
    plan = {
        "planned_values": {"root_module": {"resources": [{**database, "values": {"publicly_accessible": True}}]}},
        "resource_changes": [],
        "configuration": {},
    }
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    assert _scan(str(path), "--fail-on", "critical") == 1
    assert [f"{path}:1", "critical", "rds_public"] in [row[:3] for row in _rows(capsys.readouterr().out)]


def test_help_is_the_manual(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        _scan("--help")
    assert left.value.code == 0
    assert "exit code: 0 clean, 1 findings, 2 could not read" in capsys.readouterr().out


def test_the_verb_needs_no_heavy_package(tmp_path: Path) -> None:
    folder = _write(tmp_path, main=PUBLIC)
    code = (
        "import sys\nfrom rl_gym.cli.main import main\n"
        f"main(['scan', {folder!r}])\n"
        "heavy = {'torch', 'transformers', 'pydantic', 'typer', 'httpx', 'numpy', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
