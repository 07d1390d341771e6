"""Workflow commands: one line each, and none that a configuration could give."""

from __future__ import annotations

import re

from rl_gym.iac.formats.github import github_commands
from rl_gym.iac.triage import JudgedModule

COMMAND = re.compile(r"::(error|warning|notice) (\w+=[^,:]*)(,\w+=[^,:]*)*::.+")


def test_what_counts_is_annotated(modules: list[JudgedModule]) -> None:
    commands = list(github_commands(modules))
    assert (
        "::error file=infra/main.tf,line=5,title=rds_public (critical)::aws_db_instance.d: the database is public"
        "%0AFix: set publicly_accessible = false"
    ) in commands
    assert any(command.startswith("::warning file=infra/main.tf,") and "rds_backup" in command for command in commands)
    assert "::error file=infra/main.tf,line=3,col=5,title=schema (critical)::" in "".join(commands)
    assert "::error title=no answer::infra: opa did not answer (missing): regorus is not installed" in commands
    assert any(
        command.startswith("::error file=main.tf,line=2,") and "cannot be read" in command for command in commands
    )
    assert "kms_rotation" not in "".join(commands)
    assert "rds_encrypted" not in "".join(commands)


def test_hostile_text_gives_no_command(hostile: list[JudgedModule]) -> None:
    commands = list(github_commands(hostile))
    assert commands
    for command in commands:
        assert COMMAND.fullmatch(command)
        assert command.isprintable()
        assert "%250A" in command
