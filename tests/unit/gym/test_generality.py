"""The SDK knows no task: what belongs to one environment is not named in it, and importing it costs little."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import rl_gym.gym

FOLDER = Path(rl_gym.gym.__file__).parent
HEAVY = ("numpy", "scipy", "statsmodels", "pydantic", "rich", "typer", "torch", "trl", "datasketch")


def test_nothing_in_the_sdk_names_the_reference_task() -> None:
    names = re.compile(r"terraform|\bhcl\b|\baws|rl_gym\.(iac|hcl|serving|training|wire|cli)\b", re.IGNORECASE)
    files = [path for path in FOLDER.rglob("*") if path.suffix in (".py", ".txt")]
    assert len(files) > 20
    named = [f"{path.relative_to(FOLDER)}: {found[0]}" for path in files if (found := names.search(path.read_text()))]
    assert named == []


def test_the_core_and_the_registry_import_nothing_heavy() -> None:
    code = "import sys, rl_gym.gym.core, rl_gym.gym.registry, rl_gym.gym.splits, rl_gym.gym.trl; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in HEAVY if name in loaded] == []
