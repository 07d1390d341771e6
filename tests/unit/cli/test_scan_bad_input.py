"""`rl-gym scan` over what is no Terraform: a line that says where, exit code 2, and no other module hidden."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rl_gym.cli.scan as scan_module
from rl_gym.cli.main import main
from rl_gym.iac.report import ScanReport

PUBLIC = 'resource "aws_db_instance" "d" {\n  publicly_accessible = true\n}\n'
DEEP = 10_000

Write = Callable[[Path], object]


def _text(text: str) -> Write:
    return lambda path: path.write_text(text)


def _bytes(data: bytes) -> Write:
    return lambda path: path.write_bytes(data)


BAD: dict[str, tuple[Write, str]] = {
    "binary": (_bytes(b"\x7fELF\x02\x01\x01\x00\x80"), "main.tf:1:9: not UTF-8 text"),
    "latin": (_bytes(b'a = "x"\nb = "\xe9"\n'), "main.tf:2:6: not UTF-8 text"),
    "utf-16": (_bytes(PUBLIC.encode("utf-16")), "main.tf:1:1: not UTF-8 text, but UTF-16: save it as UTF-8"),
    "large": (_bytes(b"#" * 10 * 2**20), "main.tf: larger than 4 MiB"),
    "brackets": (
        _text(f"locals {{\n  x = {'[' * DEEP}{']' * DEEP}\n}}\n"),
        "main.tf:2:133: nested more than 128 levels",
    ),
    "plus": (_text(f"x = {'+' * 10**6}\n"), 'main.tf:1:5: expected an expression, found "+"'),
    "cycle": (_text("locals {\n  a = local.b\n  b = local.a\n}\n"), "main.tf:2:3: local.a refers to itself"),
    "pipe": (os.mkfifo, "main.tf: not a regular file"),
    "endless": (lambda path: path.symlink_to("/dev/zero"), "main.tf: not a regular file"),
    "dangling": (lambda path: path.symlink_to("nowhere"), "main.tf: No such file or directory"),
    "circular": (lambda path: path.symlink_to(path.name), "main.tf: Too many levels of symbolic links"),
}


@pytest.mark.parametrize("kind", BAD)
def test_it_is_told_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    write, message = BAD[kind]
    write(tmp_path / "main.tf")
    assert main(["scan", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {tmp_path}/{message}")
    assert printed.err.count("\n") == 1
    assert printed.out == "nothing could be read\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "main.tf.json:1:2: expected an object"),
        ('{"name": "package", "version": "1.0"}', "main.tf.json:1:2: expected one of"),
        ('{"resource": ', "main.tf.json:1:14: expected a JSON value, found the end of the file"),
        ('{"locals": {"a": ' + "[" * DEEP, "main.tf.json:1:144: nested more than 128 levels deep"),
    ],
)
def test_json_that_is_no_terraform(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    (tmp_path / "main.tf.json").write_text(text)
    assert main(["scan", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path}/{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", ": not a plan: `terraform show -json PLANFILE` writes one"),
        ('{"format_version": "1.2"}', ": not a plan"),
        ('{"planned_values": \n', ":2:1: not JSON: Expecting value"),
        ("[" * 100_000, ": not JSON that can be read: it is nested too deep"),
        ("1" * 5_000, ": not JSON that can be read: a whole number in it is too long"),
        ('{"planned_values": []}', ": plan: not as `terraform show -json PLANFILE` writes it\n"),
        (
            '{"planned_values": {"root_module": {"resources": [{}]}}}',
            ": plan: not as `terraform show -json PLANFILE` writes it: a part has no 'address'\n",
        ),
    ],
)
def test_json_that_is_no_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    assert main(["scan", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {path}{message}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "nowhere: there is no such file or folder"),
        ("empty", "empty: there are no .tf files in this folder"),
        ("main.txt", "main.txt: not a file that can be read here: its name ends in none of .tf"),
        ("a.tfvars", "a.tfvars: variables alone are no configuration: name the .tf files too"),
        ("pipe.tf", "pipe.tf: not a regular file"),
        ("pipe.json", "pipe.json: not a regular file"),
    ],
)
def test_a_path_that_leads_to_no_terraform(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    (tmp_path / "empty" / "main.tf").mkdir(parents=True)
    (tmp_path / "empty" / ".hidden.tf").write_text("{")
    (tmp_path / "main.txt").write_text(PUBLIC)
    (tmp_path / "a.tfvars").write_text("v = 1")
    os.mkfifo(tmp_path / "pipe.tf")
    os.mkfifo(tmp_path / "pipe.json")
    assert main(["scan", str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err


def test_no_bad_module_hides_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, (write, _) in BAD.items():
        (tmp_path / kind).mkdir()
        write(tmp_path / kind / "main.tf")
    (tmp_path / "plan.json").write_text("[]")
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "main.tf").write_text(PUBLIC)
    assert main(["scan", str(tmp_path), str(tmp_path / "plan.json"), str(tmp_path / "nowhere")]) == 2
    printed = capsys.readouterr()
    assert f"{tmp_path}/good/main.tf:2  critical  rds_public" in printed.out
    assert len(printed.err.splitlines()) == len(BAD) + 2

    main(["scan", str(tmp_path), "--format", "json"])
    modules = json.loads(capsys.readouterr().out)["modules"]
    assert sum(module["valid"] for module in modules) == 1
    assert sum(bool(module["errors"]) for module in modules) == len(BAD)


def test_no_bug_hides_another_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in {"a": "locals {}\n", "b": PUBLIC}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.tf").write_text(text)

    def scan(*arguments: object, files: dict[str, str], **options: Any) -> ScanReport:
        return sound(*arguments, files=files, **options) if PUBLIC in files.values() else options["nothing"]

    sound = scan_module.scan
    monkeypatch.setattr(scan_module, "scan", scan)
    assert main(["scan", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {tmp_path}/a: unexpected KeyError at ")
    assert "rds_public" in printed.out


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_closed_folder_is_told_and_hides_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.tf").write_text(PUBLIC)
    (tmp_path / "closed").mkdir(mode=0)
    assert main(["scan", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"error: {tmp_path}/closed: Permission denied\n"
    assert "rds_public" in printed.out


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\x00", "standard input:1:1: not UTF-8 text"),
        (b"#" * 5 * 2**20, "standard input: larger than 4 MiB"),
        (b'{"planned_values": 3}', "standard input: plan: not as `terraform show -json PLANFILE` writes it"),
        (b'{"a": \n', "main.tf.json:2:1: expected a JSON value"),
        (b"x = \n", "main.tf:1:5: expected an expression"),
        (b"", "standard input: there is nothing in it\n"),
        (b"\xef\xbb\xbf \r\n\n", "standard input: there is nothing in it\n"),
    ],
)
def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: bytes, message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
    assert main(["scan", "-"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_variables_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.tf").write_text(PUBLIC)
    os.mkfifo(tmp_path / "a.tfvars")
    assert main(["scan", str(tmp_path), "--var-file", str(tmp_path / "a.tfvars")]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path}/a.tfvars: not a regular file\n"


def test_names_that_would_move_a_terminal_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a\x1b[2J\n::error::b"
    folder.mkdir()
    (folder / "main.tf").write_text('resource "aws_kms_key" "k" {\n  for_each = toset(["\\u001b[31m"])\n}\n')
    (folder / "sub").mkdir()
    (folder / "sub" / "main.tf").write_text("{")
    for form in ("table", "github", "sarif", "junit"):
        assert main(["scan", str(folder), "--format", form]) == 2
        printed = capsys.readouterr()
        assert "\x1b" not in printed.out + printed.err
        assert not [line for line in printed.out.splitlines() if line.startswith("::error::")]
        assert "\\x1b[2J\\n::error::b" in printed.err
