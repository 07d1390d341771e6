"""A new environment to start from: a small package that conforms as soon as it is written."""

from __future__ import annotations

import keyword
import sys
from importlib.resources import files
from pathlib import Path
from string import Template

from rl_gym.gym.registry import NAME, available
from rl_gym.infra.errors import ConflictError, UsageError

__all__ = ["scaffold"]

TEMPLATES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "{package}/__init__.py": "__init__.py.txt",
    "{package}/environment.py": "environment.py.txt",
    "{package}/dev.txt": "dev.txt",
    "tests/test_environment.py": "test_environment.py.txt",
}


def scaffold(name: str, parent: Path) -> Path:
    """Write the folder `parent/name`, and return the path of its `environment.py`.

    Raises UsageError for a name that cannot be an environment's and a package's, or that an environment has already;
    ConflictError where the folder exists.
    """
    package = name.replace("-", "_")
    if (
        not NAME.fullmatch(name)
        or keyword.iskeyword(package)
        or package in {*sys.stdlib_module_names, "rl_gym", "tests"}
    ):
        raise UsageError(
            f"environment name {name!r}: it takes lower-case letters, digits, - and _, starts with a letter, "
            "and is no name of Python's own"
        )
    if name in available():
        raise UsageError(f"there is an environment {name!r} already: choose another name")
    folder = parent / name
    if folder.exists():
        raise ConflictError(f"{folder} exists already: choose another name or folder")
    words = {
        "name": name,
        "package": package,
        "title": name.replace("-", " ").replace("_", " ").capitalize(),
        "class_name": "".join(word.capitalize() for word in package.split("_")) or package,
    }
    for place, template in TEMPLATES.items():
        path = folder / place.format(package=package)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (files("rl_gym.gym") / "templates" / template).read_text(encoding="utf-8")
        path.write_text(Template(text).substitute(words), encoding="utf-8")
    return folder / package / "environment.py"
