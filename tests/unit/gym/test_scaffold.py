from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rl_gym.gym.conformance import check
from rl_gym.gym.registry import resolve
from rl_gym.gym.scaffold import scaffold
from rl_gym.infra.errors import ConflictError, UsageError


def test_a_new_environment_conforms_at_once(tmp_path: Path) -> None:
    path = scaffold("word-order", tmp_path)
    results = check(resolve(str(path)))
    assert [result for result in results if result.passed is not True] == []


def test_its_own_tests_pass_and_its_entry_point_is_right(tmp_path: Path) -> None:
    path = scaffold("word-order", tmp_path)
    folder = tmp_path / "word-order"
    assert path == folder / "word_order" / "environment.py"
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["rl_gym.environments"] == {"word-order": "word_order.environment:make"}
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "."], cwd=folder, capture_output=True, text=True)
    assert "2 passed" in run.stdout, run.stdout


def test_no_placeholder_is_left(tmp_path: Path) -> None:
    scaffold("a", tmp_path)
    files = [path for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert len(files) == 6
    assert [path for path in files if "$" in path.read_text()] == []


@pytest.mark.parametrize("name", ["", "Up", "1a", "a b", "../a", "a/b", "class", "json", "rl_gym", "tests", "a" * 65])
def test_a_name_that_makes_no_package_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="environment name"):
        scaffold(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_taken_name_and_a_taken_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is an environment 'countdown' already"):
        scaffold("countdown", tmp_path)
    (tmp_path / "mine").mkdir()
    with pytest.raises(ConflictError, match="mine exists already"):
        scaffold("mine", tmp_path)
    assert list((tmp_path / "mine").iterdir()) == []
