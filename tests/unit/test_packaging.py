"""What is installed: the declared packages, their tested versions, and a core that stays light."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from deploy.local.setup import registry_environment

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
INSECURE = 'resource "aws_ebs_volume" "x" {\n  availability_zone = "eu-west-1a"\n  size = 1\n}\n'


def constraints() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def declared() -> Iterator[Requirement]:
    yield from map(Requirement, PROJECT["project"]["dependencies"])
    for group in (*PROJECT["project"]["optional-dependencies"].values(), *PROJECT["dependency-groups"].values()):
        yield from map(Requirement, group)


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-checkov.txt"])
def test_constraints_are_names_and_numbers(name: str) -> None:
    for line in (ROOT / name).read_text().splitlines():
        assert re.fullmatch(r"#.*|[a-z0-9._-]+==[0-9][0-9a-z.]*", line)


def test_every_declared_package_has_a_tested_version_that_it_allows() -> None:
    tested = constraints()
    for requirement in declared():
        name = canonicalize_name(requirement.name)
        if name != "rl-gym":
            assert requirement.specifier.contains(tested[name]), requirement


def test_the_core_is_light() -> None:
    names = {Requirement(line).name for line in PROJECT["project"]["dependencies"]}
    assert names == {"google-re2", "pydantic", "pydantic-settings", "rich", "typer"}


def test_make_names_the_pythons_it_takes_when_there_is_none(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("make", "sh", "test"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    done = subprocess.run(
        ["make", "lint"], cwd=tmp_path, env={"PATH": str(tools)}, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "error: Python 3.11 or 3.12 is needed" in done.stderr


@pytest.mark.slow
def test_a_bare_install_scans(tmp_path: Path) -> None:
    """Builds the wheel, installs it alone, and judges a file with what came along."""
    environment = registry_environment(os.environ)

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    uv = [sys.executable, "-m", "uv"]
    run(*uv, "build", "--wheel", "--out-dir", str(tmp_path))
    venv.create(tmp_path / "venv")
    python = str(tmp_path / "venv" / "bin" / "python")
    wheel = str(next(tmp_path.glob("*.whl")))
    run(*uv, "pip", "install", "--python", python, "-c", str(ROOT / "constraints.txt"), wheel)
    installed = set(run(*uv, "pip", "freeze", "--python", python).split())
    assert not {name for name in installed if name.startswith(("torch", "numpy", "httpx", "transformers"))}
    (tmp_path / "main.tf").write_text(INSECURE)
    assert "ebs_encrypted" in run(str(tmp_path / "venv" / "bin" / "rl-gym"), "scan", str(tmp_path / "main.tf"))
