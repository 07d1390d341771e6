"""The import directions of docs/architecture.md, read from the source."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "shared" / "rl_gym"

# From the top of the house to its ground.
LINES = ["cli", "training", "serving", "wire", "iac", "gym", "hcl", "infra"]

# What `pip install rl-gym` brings: the declared packages and what they need themselves.
CORE = {
    "pydantic",
    "pydantic_core",
    "pydantic_settings",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
} | {
    "dotenv",
    "re2",
    "_re2",
    "typer",
    "annotated_doc",
    "shellingham",
    "rich",
    "markdown_it",
    "mdurl",
    "pygments",
}


class Import(NamedTuple):
    file: Path
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.name}"


def imports_in(folder: Path) -> Iterator[Import]:
    for file in sorted(folder.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(file, node.lineno, alias.name)
            elif isinstance(node, ast.ImportFrom):
                if node.module == "rl_gym" and not node.level:
                    for alias in node.names:
                        yield Import(file, node.lineno, f"rl_gym.{alias.name}")
                else:
                    yield Import(file, node.lineno, "." * node.level + (node.module or ""))


def package_of(name: str) -> str | None:
    first, _, rest = name.partition(".")
    return rest.split(".")[0] if first == "rl_gym" and rest else None


IMPORTS = list(imports_in(LIBRARY))


def test_the_lines_are_those_of_the_library() -> None:
    packages = {path.name for path in LIBRARY.iterdir() if (path / "__init__.py").is_file()}
    assert packages == set(LINES)
    table = re.findall(r"^\| `(\w+)/` \|", (ROOT / "docs" / "architecture.md").read_text(), flags=re.MULTILINE)
    assert table == LINES


def test_imports_are_absolute() -> None:
    assert [str(one) for one in IMPORTS if one.name.startswith(".")] == []


def test_nothing_imports_a_line_above_itself() -> None:
    upward = []
    for one in IMPORTS:
        here, there = one.file.relative_to(LIBRARY).parts[0], package_of(one.name)
        if here in LINES and there in LINES and LINES.index(there) < LINES.index(here):
            upward.append(str(one))
    assert upward == []


def test_services_do_not_import_each_other() -> None:
    across = []
    for one in imports_in(ROOT / "services"):
        here = one.file.relative_to(ROOT / "services").parts[0]
        if one.name.startswith("services.") and one.name.split(".")[1] != here:
            across.append(str(one))
    assert across == []


@pytest.mark.parametrize(
    ("package", "word"), [("gym", r"terraform|hcl|\biac\b|\baws"), ("hcl", r"\brules?et|\baws_iam_\w+_policy\b")]
)
def test_a_package_does_not_know_what_is_built_on_it(package: str, word: str) -> None:
    named = []
    for file in sorted((LIBRARY / package).rglob("*.py")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(word, line, flags=re.IGNORECASE):
                named.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert named == []


def test_what_needs_the_extra_services_is_imported_by_what_needs_it_too() -> None:
    """Elsewhere only within a function: `rl-gym keys` waits for nothing that is not there."""
    needing = (
        "rl_gym.infra.database",
        "rl_gym.infra.hosting",
        "rl_gym.infra.kept_process",
        "rl_gym.infra.migrations",
        "rl_gym.infra.queue",
        "rl_gym.infra.redis_server",
        "rl_gym.infra.redis_transport",
        "rl_gym.infra.signing",
        "rl_gym.infra.principals",
        "rl_gym.wire.clients",
        "rl_gym.serving.backends.policy",
        "rl_gym.serving.deployment",
        "rl_gym.serving.promotion",
        "rl_gym.serving.score_batches",
        "rl_gym.serving.verifier_judge",
        "rl_gym.training.verifier_rewards",
    )
    own = tuple(name.replace(".", "/") for name in needing)
    elsewhere = [
        str(one)
        for one in IMPORTS
        if one.name.startswith(needing) and not str(one.file.relative_to(ROOT / "shared")).startswith(own)
    ]
    within_a_function = (
        "rl_gym/cli/keys.py",
        "rl_gym/cli/trainer_server.py",
        "rl_gym/cli/watching.py",
        "rl_gym/cli/run_artifacts.py",
        "rl_gym/infra/command.py",
        "rl_gym/training/incumbent.py",
        "rl_gym/training/local.py",
        "rl_gym/training/means.py",
        "rl_gym/training/policy_service.py",
        "rl_gym/training/rewards.py",
        "rl_gym/training/stages/promote.py",
    )
    assert [one for one in elsewhere if not any(file in one for file in within_a_function)] == []


def test_trl_is_imported_in_training_alone() -> None:
    elsewhere = [str(one) for one in IMPORTS if one.name.split(".")[0] == "trl"]
    assert [one for one in elsewhere if "/training/" not in one] == []


def test_the_core_needs_no_more_than_it_installs() -> None:
    """With every other installed package out of reach, the core imports and judges."""
    done = run_python(
        """
import sys

class Unreachable:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in FORBIDDEN:
            raise ImportError(f"{name} is not of the core")

sys.meta_path.insert(0, Unreachable())
import rl_gym.cli.main, rl_gym.gym.core, rl_gym.gym.registry, rl_gym.hcl, rl_gym.infra.object_store, rl_gym.wire
from rl_gym.iac.scan import scan

print(scan('resource "aws_ebs_volume" "x" {}').verdict("ebs_encrypted"))
""".replace("FORBIDDEN", repr(set(packages_distributions()) - CORE - {"rl_gym"}))
    )
    assert (done.stdout, done.stderr) == ("fail\n", "")


def test_a_scan_waits_for_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "aws_ebs_volume" "x" {}\n')
    done = run_python(
        f"""
import sys
from rl_gym.cli.main import main

code = main(["scan", {str(tmp_path)!r}])
print(code, *sys.modules, file=sys.stderr)
"""
    )
    code, *modules = done.stderr.split()
    assert code == "1"
    slow = {"pydantic", "typer", "numpy", "scipy", "torch", "httpx", "importlib.metadata", "asyncio", "rl_gym.wire"}
    assert set(modules) & slow == set()


def run_python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
