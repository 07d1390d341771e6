"""`rl-gym schema`: what a type takes, and the import of a newer provider, each mistake in one line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from rl_gym.cli.main import main

DOCUMENT = {
    "provider_schemas": {
        "registry/hashicorp/aws": {
            "provider": {"block": {}},
            "resource_schemas": {"aws_new": {"block": {"attributes": {"size": {"type": "number", "required": True}}}}},
        }
    }
}


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "show", "aws_s3_bucket_versioning"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "aws_s3_bucket_versioning (AWS provider 5.100.0)"
    assert "    versioning_configuration  at least 1, at most 1" in out.splitlines()
    assert main(["schema", "show", "data.aws_ami.filter", "--version", "6.25.0"]) == 0
    assert capsys.readouterr().out.split() == (
        ["data.aws_ami.filter", "(AWS", "provider", "6.25.0)", "required", "name", "string", "values", "set(string)"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["aws_s3_bukcet"], "error: the AWS provider has no resource 'aws_s3_bukcet': did you mean 'aws_s3_bucket'?"),
        (["data.aws_nothing_like_it"], "error: the AWS provider has no data 'aws_nothing_like_it'"),
        (["aws_kms_key.nope"], "error: aws_kms_key has no block 'nope'; it has: timeouts"),
        (["aws_vpc", "--version", "4"], "error: there is no schema of version '4': there are 5.100.0, 6.25.0"),
    ],
)
def test_what_is_not_there(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "show", *arguments]) == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", message + "\n")


def test_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "schema.json"
    document.write_text(json.dumps(DOCUMENT))
    packed = tmp_path / "new.gz"
    assert main(["schema", "import", str(document), "--to", str(packed), "--version", "7.1.0"]) == 0
    assert f"next: export RL_GYM_SCHEMA={packed}" in capsys.readouterr().out
    monkeypatch.setenv("RL_GYM_SCHEMA", str(packed))
    assert main(["schema", "show", "aws_new"]) == 0
    assert capsys.readouterr().out.splitlines() == ["aws_new (AWS provider 7.1.0)", "  required", "    size  number"]


def test_import_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(DOCUMENT).encode())))
    assert main(["schema", "import", "-", "--to", str(tmp_path / "new.gz")]) == 0
    assert (tmp_path / "new.gz").is_file()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON that can be read: it is nested too deep"),
        ("1" * 5_000, "not JSON that can be read: a whole number in it is too long"),
        ("{}", "it has no provider_schemas"),
        ('{"provider_schemas": {"a/b/google": {}}}', "the document has no provider 'aws'; it has: a/b/google"),
    ],
)
def test_what_cannot_be_imported(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "schema.json"
    document.write_text(text)
    assert main(["schema", "import", str(document), "--to", str(tmp_path / "new.gz")]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "new.gz").exists()


def test_paths_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "import", str(tmp_path / "absent.json")]) == 1
    assert capsys.readouterr().err == f"error: {tmp_path / 'absent.json'}: No such file or directory\n"
    document = tmp_path / "schema.json"
    document.write_text(json.dumps(DOCUMENT))
    assert main(["schema", "import", str(document), "--to", str(tmp_path / "no" / "new.gz")]) == 1
    assert "No such file or directory" in capsys.readouterr().err
