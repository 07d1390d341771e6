"""Terraform itself as a witness of what fixers write."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rl_gym.hcl import parse

Complaints = Callable[[Mapping[str, str]], list[str]]

_TERRAFORM_VERSION = re.compile(r"^\s*required_version\s*=.*\n", re.MULTILINE)


@pytest.fixture
def complaints(terraform: str, provider_mirror: Path, tmp_path: Path) -> Complaints:
    """What `terraform validate` has against configurations by name, each as a module, with its error messages."""

    def validate(texts: Mapping[str, str]) -> list[str]:
        for name, text in texts.items():
            (tmp_path / name).mkdir()
            # Which version of Terraform a configuration is for is not the question.
            (tmp_path / name / "main.tf").write_text(_TERRAFORM_VERSION.sub("", text))
        (tmp_path / "main.tf").write_text("".join(_call(name, text) for name, text in texts.items()))
        _run(terraform, tmp_path, "init", "-input=false", "-backend=false", f"-plugin-dir={provider_mirror}")
        report = json.loads(_run(terraform, tmp_path, "validate", "-json"))
        errors = [one for one in report["diagnostics"] if one["severity"] == "error"]
        return [f"{one['range']['filename']}: {one['summary']}: {one['detail']}" for one in errors]

    return validate


def _call(name: str, text: str) -> str:
    variables = parse(text if text.endswith("\n") else f"{text}\n").body.blocks_of("variable")
    values = "".join(f"  {one.labels[0]} = null\n" for one in variables if "default" not in one.body.attributes)
    return f'module "{name}" {{\n  source = "./{name}"\n{values}}}\n'


def _run(terraform: str, folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1"}
    done = subprocess.run(
        [terraform, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout, done.stderr[-2000:]
    return done.stdout
