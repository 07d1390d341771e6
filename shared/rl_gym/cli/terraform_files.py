"""Which files make which Terraform module: folders, single files, a plan, or standard input."""

from __future__ import annotations

import json
import os
import posixpath
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rl_gym.hcl import HclError, parse
from rl_gym.hcl.ast import Literal
from rl_gym.hcl.limits import FILES
from rl_gym.infra.errors import UsageError

_LARGEST_FILE = 4 * 1024 * 1024
_LARGEST_PLAN = 64 * 1024 * 1024
_MOST_FILES = 5_000
_MOST_FOLDERS = 50_000
_SOURCES = (".tf", ".tf.json")
_VARIABLES = (".tfvars", ".tfvars.json")
_SKIPPED = frozenset({".terraform", ".git", "node_modules", ".venv"})


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to scan: a module (its `files` by path relative to `folder`) or a `plan`."""

    name: str
    folder: str
    files: Mapping[str, str] | None = field(default=None, repr=False)
    plan: Mapping[str, Any] | None = field(default=None, repr=False)
    given: Mapping[str, str] = field(default_factory=dict)
    """Paths of variable files from elsewhere, by the name that they have among `files`."""

    def path(self, filename: str) -> str:
        """A file of the module, or the plan, as seen from where the user stands."""
        if self.plan is not None:
            return self.name
        if filename in self.given:
            return self.given[filename]
        return posixpath.normpath(posixpath.join(self.folder, filename)) if self.folder else filename


def find_sources(paths: Sequence[str], variable_files: Sequence[str] = ()) -> list[Source]:
    """What the paths of a command line name; files of one folder are one module.

    `variable_files` are read with every module, after those that Terraform reads by itself. Raises UsageError for a
    path that does not exist, holds no Terraform, or is too large.
    """
    # Files that are read by themselves are read in the order of their names: these come last.
    given = {f"~{index}.auto{_suffix(path, _VARIABLES)}": path for index, path in enumerate(variable_files)}
    texts = {name: _read(Path(path)) for name, path in given.items()}
    found = _find(paths)
    return [
        source if source.files is None else replace(source, files={**source.files, **texts}, given=given)
        for source in found
    ]


def _find(paths: Sequence[str]) -> list[Source]:
    sources: list[Source] = []
    single: dict[str, list[Path]] = {}
    for path in paths:
        if path == "-":
            sources.append(Source("-", "", {"main.tf": _standard_input()}))
        elif os.path.isdir(path):
            sources.extend(_modules(Path(path)))
        elif not os.path.exists(path):
            raise UsageError(f"{path}: there is no such file or folder")
        elif path.endswith(".json") and not path.endswith((*_SOURCES, *_VARIABLES)):
            sources.append(Source(path, "", plan=_plan(Path(path))))
        else:
            _suffix(path, (*_SOURCES, *_VARIABLES))
            single.setdefault(os.path.dirname(path), []).append(Path(path))
    for folder, files in single.items():
        if not any(file.name.endswith(_SOURCES) for file in files):
            raise UsageError(f"{files[0]}: variables alone are no configuration: name the .tf files too")
        names = ", ".join(str(file) for file in files)
        sources.append(Source(names, folder, {file.name: _read(file) for file in files}))
    return sources


def _modules(top: Path) -> Iterator[Source]:
    """The root modules at and below a folder: those that no other module there calls."""
    folders = _folders(top)
    if not folders:
        raise UsageError(f"{top}: there are no .tf files in this folder")
    texts = _Texts()
    calls = {folder: _called(folder, texts) for folder in folders}
    called = {child for children in calls.values() for child in children}
    roots = [folder for folder in folders if folder not in called] or [_normal(top)]
    for root in roots:
        files = {}
        for folder in _closure(root, texts):
            for path in _module_files(folder, variables=folder == root):
                files[posixpath.relpath(str(path), root)] = texts.read(path)
        yield Source(root, root, files)


def _folders(top: Path) -> list[str]:
    """Every folder at and below `top` that holds Terraform source, in order."""
    found = []
    for seen, (folder, names, files) in enumerate(os.walk(top)):
        if seen >= _MOST_FOLDERS:
            raise UsageError(f"{top}: more than {_MOST_FOLDERS} folders: name the one to scan")
        names[:] = sorted(name for name in names if name not in _SKIPPED)
        if any(name.endswith(_SOURCES) for name in files):
            found.append(_normal(Path(folder)))
    return found


def _closure(root: str, texts: _Texts) -> list[str]:
    """A module and the local modules that it calls, directly or not."""
    found, pending = [root], [root]
    while pending:
        for child in _called(pending.pop(), texts):
            if child not in found:
                found.append(child)
                pending.append(child)
    return found


def _called(folder: str, texts: _Texts) -> list[str]:
    """Folders of the local modules that the files of a folder call; a file that cannot be read calls none."""
    called = []
    for path in _module_files(folder, variables=False):
        try:
            blocks = parse(texts.read(path), path.name, FILES).body.blocks_of("module") if path.suffix == ".tf" else ()
        except HclError:
            continue
        for block in blocks:
            source = block.body.attributes.get("source")
            if source is not None and isinstance(source.expression, Literal):
                target = str(source.expression.value)
                if target.startswith(("./", "../")) and os.path.isdir(posixpath.join(folder, target)):
                    called.append(_normal(Path(folder) / target))
    return called


def _module_files(folder: str, *, variables: bool) -> list[Path]:
    """The source files of a folder, with the variable files that Terraform reads by itself where asked."""
    kinds = (*_SOURCES, ".auto.tfvars", ".auto.tfvars.json") if variables else _SOURCES
    exact = {"terraform.tfvars", "terraform.tfvars.json"} if variables else set()
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.name.endswith(kinds) or entry.name in exact)
    return [Path(folder) / name for name in names]


class _Texts:
    """Files read once each, within a bound on how many."""

    def __init__(self) -> None:
        self._texts: dict[Path, str] = {}

    def read(self, path: Path) -> str:
        if path not in self._texts:
            if len(self._texts) >= _MOST_FILES:
                raise UsageError(f"more than {_MOST_FILES} files: name the folder to scan")
            self._texts[path] = _read(path)
        return self._texts[path]


def _suffix(path: str, allowed: Sequence[str]) -> str:
    """The ending of a path among those allowed; raises UsageError where it has none of them."""
    found = [suffix for suffix in allowed if path.endswith(suffix)]
    if not found:
        raise UsageError(f"{path}: not a file that can be read here: its name ends in none of {', '.join(allowed)}")
    return max(found, key=len)


def _standard_input() -> str:
    try:
        text = sys.stdin.read(_LARGEST_FILE + 1)
    except UnicodeDecodeError:
        raise UsageError("standard input: not UTF-8 text") from None
    if len(text) > _LARGEST_FILE:
        raise UsageError(f"standard input: larger than {_LARGEST_FILE // 2**20} MiB")
    return text


def _read(path: Path, largest: int = _LARGEST_FILE) -> str:
    try:
        with open(path, "rb") as stream:
            data = stream.read(largest + 1)
        if len(data) > largest:
            raise UsageError(f"{path}: larger than {largest // 2**20} MiB")
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _plan(path: Path) -> Mapping[str, Any]:
    try:
        plan = json.loads(_read(path, _LARGEST_PLAN))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    if not isinstance(plan, dict) or "planned_values" not in plan:
        raise UsageError(f"{path}: not a plan: `terraform show -json PLANFILE` writes one")
    return plan


def _normal(path: Path) -> str:
    return posixpath.normpath(str(path))
