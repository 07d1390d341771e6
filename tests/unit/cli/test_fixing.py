"""`rl-gym scan --fix`: what it writes, what it prints, what it leaves alone, and its exit codes."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rl_gym.cli.main import main

PLAIN = 'resource "aws_kms_key" "k" {\n  description = "k"\n  tags        = { Name = "k" }\n}\n'
FIXED = (
    'resource "aws_kms_key" "k" {\n  description         = "k"\n  enable_key_rotation = true\n'
    '  tags                = { Name = "k" }\n}\n'
)
UNTAGGED = 'resource "aws_kms_key" "u" {\n  enable_key_rotation = true\n}\n'
DIFF = (
    ' resource "aws_kms_key" "k" {\n-  description = "k"\n-  tags        = { Name = "k" }\n'
    '+  description         = "k"\n+  enable_key_rotation = true\n+  tags                = { Name = "k" }\n }\n'
)

Printed = pytest.CaptureFixture[str]


def _fix(*arguments: str | Path) -> int:
    return main(["scan", "--no-config", "--fix", *map(str, arguments)])


def test_files_are_fixed_in_place(tmp_path: Path, capsys: Printed) -> None:
    path = tmp_path / "main.tf"
    path.write_text(PLAIN)
    assert _fix(tmp_path) == 0
    assert path.read_text() == FIXED
    printed = capsys.readouterr()
    assert printed.err == "fixed 1 finding in 1 file\n"
    assert "security" in printed.out
    assert [entry.name for entry in tmp_path.iterdir()] == ["main.tf"]


def test_what_is_left_is_reported_and_is_1(tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "main.tf").write_text(PLAIN + UNTAGGED)
    assert _fix(tmp_path) == 1
    assert (tmp_path / "main.tf").read_text() == FIXED + UNTAGGED
    assert f"{tmp_path}/main.tf:6" in capsys.readouterr().out
    assert _fix(tmp_path, "--fail-on", "high") == 0
    assert capsys.readouterr().err == "fixed 0 findings in 0 files\n"


def test_what_is_below_fail_on_is_not_fixed(tmp_path: Path, capsys: Printed) -> None:
    path = tmp_path / "main.tf"
    path.write_text(PLAIN)
    assert _fix(tmp_path, "--fail-on", "high") == 0
    assert path.read_text() == PLAIN
    assert _fix(tmp_path, "--fail-on", "high", "--severity", "kms_rotation=high") == 0
    assert path.read_text() == FIXED


def test_why_something_was_left_is_said(tmp_path: Path, capsys: Printed) -> None:
    database = (
        'variable "p" {\n  default = true\n}\n\nresource "aws_db_instance" "d" {\n  publicly_accessible = var.p\n}\n'
    )
    (tmp_path / "main.tf").write_text(PLAIN + database)
    assert _fix("--diff", tmp_path, "--ruleset", "seed18") == 1
    said = capsys.readouterr().err.splitlines()
    left = "rds_public: aws_db_instance.d: publicly_accessible is computed: var.p"
    assert said == [f"left: {tmp_path}/main.tf: {left}", "would fix 3 findings in 1 file"]


def test_a_diff_changes_nothing_and_is_1(tmp_path: Path, capsys: Printed) -> None:
    path = tmp_path / "main.tf"
    path.write_text(PLAIN)
    assert _fix("--diff", tmp_path) == 1
    assert path.read_text() == PLAIN
    shown = str(path).lstrip("/")
    printed = capsys.readouterr()
    assert printed.out == f"--- a/{shown}\n+++ b/{shown}\n@@ -1,4 +1,5 @@\n{DIFF}"
    assert printed.err == "would fix 1 finding in 1 file\n"
    path.write_text(FIXED)
    assert _fix("--diff", tmp_path) == 0
    assert capsys.readouterr().out == ""


def test_git_applies_the_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    (tmp_path / "m").mkdir()
    path = tmp_path / "m" / "main.tf"
    path.write_bytes(PLAIN.rstrip("\n").replace("\n", "\r\n").encode())
    monkeypatch.chdir(tmp_path)
    _fix("--diff", "m")
    (tmp_path / "fix.patch").write_bytes(capsys.readouterr().out.encode())
    subprocess.run(["git", "apply", "fix.patch"], check=True)
    assert path.read_bytes() == FIXED.rstrip("\n").replace("\n", "\r\n").encode()


def test_the_example_of_the_page_is_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "fixing.md").read_text()
    shown = page.partition("--diff main.tf\n")[2].partition("```")[0]
    (tmp_path / "main.tf").write_text("".join(f"{line[1:]}\n" for line in shown.splitlines()[3:] if line[0] in " -"))
    monkeypatch.chdir(tmp_path)
    assert _fix("--diff", "main.tf") == 1
    assert capsys.readouterr().out == shown


def test_a_diff_needs_a_fix(tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "main.tf").write_text(PLAIN)
    assert main(["scan", "--diff", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "error: --diff shows what --fix would change: give both\n"


def test_a_baseline_is_written_afterwards(tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "main.tf").write_text(PLAIN)
    assert _fix("--write-baseline", tmp_path / "known.json", tmp_path) == 2
    assert "--fix writes no baseline" in capsys.readouterr().err
    assert (tmp_path / "main.tf").read_text() == PLAIN


def test_standard_input_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(PLAIN + UNTAGGED))
    assert _fix("-") == 1
    assert capsys.readouterr().out == FIXED + UNTAGGED


def test_standard_input_stands_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    (tmp_path / "main.tf").write_text(PLAIN)
    monkeypatch.setattr(sys, "stdin", io.StringIO(PLAIN))
    assert _fix("-", tmp_path) == 2
    assert "takes nothing beside it" in capsys.readouterr().err
    assert (tmp_path / "main.tf").read_text() == PLAIN


def test_a_plan_cannot_be_fixed(tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "plan.json").write_text('{"planned_values": {"root_module": {}}}')
    assert _fix(tmp_path / "plan.json") == 2
    assert "a plan cannot be fixed" in capsys.readouterr().err


def test_mode_line_ends_and_byte_order_mark_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "main.tf"
    path.write_bytes(b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    assert _fix(path) == 0
    assert path.read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link_and_what_it_leads_to_is_fixed(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "keys").write_text(PLAIN)
    (tmp_path / "main.tf").symlink_to(Path("shared") / "keys")
    assert _fix(tmp_path) == 0
    assert (tmp_path / "main.tf").is_symlink()
    assert (tmp_path / "shared" / "keys").read_text() == FIXED


def test_what_lies_elsewhere_is_left(tmp_path: Path, capsys: Printed) -> None:
    for name in ("here", "module", "linked"):
        (tmp_path / name).mkdir()
    (tmp_path / "module" / "main.tf").write_text(PLAIN)
    (tmp_path / "linked" / "keys").write_text(PLAIN)
    (tmp_path / "here" / "main.tf").write_text('module "m" {\n  source = "../module"\n}\n')
    (tmp_path / "here" / "keys.tf").symlink_to(tmp_path / "linked" / "keys")
    assert _fix(tmp_path / "here") == 1
    assert (tmp_path / "module" / "main.tf").read_text() == PLAIN
    assert (tmp_path / "linked" / "keys").read_text() == PLAIN
    assert capsys.readouterr().err.count("lies in nothing that was named: name its folder too\n") == 2


def test_a_module_of_two_roots_is_fixed_once(tmp_path: Path, capsys: Printed) -> None:
    for name in ("module", "prod", "dev"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.tf").write_text('module "m" {\n  source = "../module"\n}\n')
    (tmp_path / "module" / "main.tf").write_text(PLAIN)
    assert _fix(tmp_path) == 0
    assert (tmp_path / "module" / "main.tf").read_text() == FIXED
    assert capsys.readouterr().err == "fixed 1 finding in 1 file\n"


def test_waived_and_known_findings_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    path = tmp_path / "main.tf"
    path.write_text(PLAIN)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".rl-gym.toml").write_text('[severity]\nkms_rotation = "off"\n')
    assert main(["scan", "--fix", "."]) == 0
    assert path.read_text() == PLAIN
    assert main(["scan", "--no-config", "--write-baseline", "known.json", "."]) == 0
    assert main(["scan", "--no-config", "--baseline", "known.json", "--fix", "."]) == 0
    assert path.read_text() == PLAIN


def test_a_bucket_whose_openness_is_waived_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text('resource "aws_s3_bucket" "site" {\n  acl = "public-read"\n}\n')
    waiver = 'rule = "s3_public_acl"\nreason = "a public website"\nexpires = 9999-12-31\n'
    Path(".rl-gym.toml").write_text(f"[[waiver]]\n{waiver}")
    assert main(["scan", "--fix", "--fail-on", "high", "."]) == 1
    assert "aws_s3_bucket_public_access_block" not in Path("main.tf").read_text()
    said = "left: main.tf: s3_block_public: aws_s3_bucket.site: s3_public_acl of aws_s3_bucket.site is excused"
    assert said in capsys.readouterr().err


def test_what_cannot_be_read_is_2_and_the_others_are_fixed(tmp_path: Path, capsys: Printed) -> None:
    for name, text in (("bad", "resource {"), ("good", PLAIN)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.tf").write_text(text)
    assert _fix(tmp_path) == 2
    assert (tmp_path / "good" / "main.tf").read_text() == FIXED
    assert (tmp_path / "bad" / "main.tf").read_text() == "resource {"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_stops_all(tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "a.tf").write_text(PLAIN)
    (tmp_path / "b.tf").write_text(PLAIN.replace('"k"', '"l"'))
    (tmp_path / "b.tf").chmod(0o440)
    assert _fix(tmp_path) == 2
    assert (tmp_path / "a.tf").read_text() == PLAIN
    assert "may not be written" in capsys.readouterr().err


def test_variables_of_the_command_line_count(tmp_path: Path) -> None:
    path = tmp_path / "main.tf"
    path.write_text('variable "n" {\n  default = 1\n}\n\n' + PLAIN.replace("{\n", "{\n  count       = var.n\n", 1))
    assert _fix("--var", "n=0", tmp_path) == 0
    assert "enable_key_rotation" not in path.read_text()
    values = tmp_path / "values.tfvars"
    values.write_text("n = 2\n")
    assert _fix("--var-file", values, tmp_path) == 0
    assert "enable_key_rotation" in path.read_text()
    assert values.read_text() == "n = 2\n"
