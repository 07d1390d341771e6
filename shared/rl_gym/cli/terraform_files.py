"""Which files make which Terraform module: folders, single files, a plan, or standard input."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rl_gym.hcl import HclError, parse
from rl_gym.hcl.limits import FILES
from rl_gym.iac.report import ScanError
from rl_gym.iac.repository import values_for
from rl_gym.iac.root_modules import SKIPPED_FOLDERS, SOURCES, RootModule, called_folders, closures, is_source
from rl_gym.infra.errors import UsageError
from rl_gym.infra.text_files import UnreadableError, decoded, parsed_json, read_text

_LARGEST_FILE = 4 * 1024 * 1024
_LARGEST_PLAN = 64 * 1024 * 1024
_MOST_FILES = 5_000
_MOST_FOLDERS = 50_000
_STANDARD_INPUT = "standard input"
_VARIABLES = (".tfvars", ".tfvars.json")
_AUTOMATIC = frozenset({"terraform.tfvars", "terraform.tfvars.json"})
_AUTOMATIC_SUFFIXES = (".auto.tfvars", ".auto.tfvars.json")
_LAST = "\U0010ffff"
"""What sorts after the name of any file."""


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to scan: a module (its `files` by path relative to `folder`) or a `plan`, or why there is neither.

    `part` tells that a module may have more files than these: they were named one by one, or came by standard input.
    """

    name: str
    folder: str = ""
    files: Mapping[str, str] | None = field(default=None, repr=False)
    plan: Mapping[str, Any] | None = field(default=None, repr=False)
    given: Mapping[str, str] = field(default_factory=dict)
    """Paths of variable files from elsewhere, by the name that they have among `files`."""
    errors: Sequence[ScanError] = ()
    """What cannot be read, by paths as the user would name them."""
    part: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    """Values that were given one by one."""

    @property
    def title(self) -> str:
        """What it is, in a message."""
        return _STANDARD_INPUT if self.name == "-" else self.name

    def path(self, filename: str) -> str:
        """A file of the module, or the plan, as seen from where the user stands."""
        if self.plan is not None:
            return self.title
        if filename in self.given:
            return self.given[filename]
        return posixpath.normpath(posixpath.join(self.folder, filename)) if self.folder else filename


def find_sources(paths: Sequence[str], variable_files: Sequence[str], variables: Mapping[str, str]) -> list[Source]:
    """What the paths of a command line name; files of one folder are one module.

    `variable_files` are read with every module, after those that Terraform reads by itself. Each module gets those of
    the `variables` that it declares, and those that none does. A path that cannot be read is a source with `errors`,
    beside those that can. Raises UsageError for a variable file that cannot be read, and
    where there is more than can be scanned at once.
    """
    # Files that are read by themselves are read in the order of their names: these come last.
    given = {f"{_LAST}{index:05}.auto{_suffix(path, _VARIABLES)}": path for index, path in enumerate(variable_files)}
    texts = {name: read_text(path, _LARGEST_FILE) for name, path in given.items()}
    found = _find(paths)
    modules = [RootModule(source.folder, source.files) for source in found if source.files is not None]
    values = iter(values_for(modules, variables))
    return [
        source
        if source.files is None
        else replace(source, files={**source.files, **texts}, given=given, variables=next(values))
        for source in found
    ]


def variables_set_by(path: str) -> Collection[str]:
    """Names of what a variable file sets; none where it is malformed, which the scan tells with its place.

    Raises UsageError for a file that cannot be read.
    """
    try:
        return parse(read_text(path, _LARGEST_FILE), path, FILES).body.attributes.keys()
    except HclError:
        return ()


def _find(paths: Sequence[str]) -> list[Source]:
    sources: list[Source] = []
    folders: list[str] = []
    single: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        try:
            if path == "-":
                sources.append(_standard_input())
            elif os.path.isdir(path):
                found, closed = _folders(Path(path))
                folders += found
                sources += closed
            elif not os.path.lexists(path):
                raise UnreadableError(path, "there is no such file or folder")
            elif path.endswith(".json") and not path.endswith((*SOURCES, *_VARIABLES)):
                sources.append(Source(path, plan=_plan(path)))
            else:
                _suffix(path, (*SOURCES, *_VARIABLES))
                single.setdefault(os.path.dirname(path), []).append(path)
        except UnreadableError as error:
            sources.append(Source(path, errors=[_reason(error)]))
    modules = _modules(dict.fromkeys(folders))
    return [*sources, *modules, *(_single_files(folder, files) for folder, files in single.items())]


def _single_files(folder: str, paths: Sequence[str]) -> Source:
    """Files of one folder that were named one by one."""
    name = ", ".join(paths)
    if not any(path.endswith(SOURCES) for path in paths):
        alone = ScanError("variables alone are no configuration: name the .tf files too", paths[0])
        return Source(name, errors=[alone])
    return replace(_module(name, folder, {os.path.basename(path): path for path in paths}, _Project()), part=True)


def _modules(folders: Iterable[str]) -> Iterator[Source]:
    """The root modules among folders: those that no other one calls."""
    project = _Project()
    for root, taken in closures([*folders], project.called).items():
        try:
            paths = [path for folder in taken for path in _module_files(folder, variables=folder == root)]
        except UnreadableError as error:
            yield Source(root, errors=[_reason(error)])
        else:
            yield _module(root, root, {posixpath.relpath(path, root): path for path in paths}, project)


def _module(name: str, folder: str, paths: Mapping[str, str], project: _Project) -> Source:
    """A module of these paths, by their names in it; one that cannot be read is as good as none that can."""
    files, errors = {}, []
    for filename, path in paths.items():
        try:
            files[filename] = project.read(path)
        except UnreadableError as error:
            errors.append(_reason(error))
    return Source(name, errors=errors) if errors else Source(name, folder, files)


def _folders(top: Path) -> tuple[list[str], list[Source]]:
    """Every folder at and below `top` that holds Terraform source, in order, and those that do not open."""
    found: list[str] = []
    closed: list[OSError] = []
    for seen, (folder, names, files) in enumerate(os.walk(top, onerror=closed.append)):
        if seen >= _MOST_FOLDERS:
            raise UsageError(f"{top}: more than {_MOST_FOLDERS} folders: name the one to scan")
        names[:] = sorted(name for name in names if name not in SKIPPED_FOLDERS)
        if any(is_source(name) for name in files):
            found.append(_normal(Path(folder)))
    if not found and not closed:
        raise UnreadableError(top, "there are no .tf files in this folder")
    return found, [_closed(error) for error in closed]


def _closed(error: OSError) -> Source:
    path = _normal(Path(error.filename))
    return Source(path, errors=[ScanError(error.strerror or str(error), path)])


def _module_files(folder: str, *, variables: bool) -> list[str]:
    """The source files of a folder, with the variable files that Terraform reads by itself where asked.

    Folders and hidden files are no source, whatever their names end in.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                entry.name
                for entry in entries
                if (is_source(entry.name) or (variables and _is_automatic(entry.name))) and not entry.is_dir()
            )
    except OSError as error:
        raise UnreadableError(error.filename or folder, error.strerror or str(error)) from error
    return [posixpath.join(folder, name) for name in names]


def _is_automatic(name: str) -> bool:
    """Whether Terraform reads a file of variables by itself."""
    return name in _AUTOMATIC or (name.endswith(_AUTOMATIC_SUFFIXES) and not name.startswith("."))


class _Project:
    """The files and folders of a project, looked into once each, within a bound on how many."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._called: dict[str, list[str]] = {}

    def read(self, path: str) -> str:
        if path not in self._texts:
            if len(self._texts) >= _MOST_FILES:
                raise UsageError(f"more than {_MOST_FILES} files: name the folder to scan")
            self._texts[path] = read_text(path, _LARGEST_FILE)
        return self._texts[path]

    def called(self, folder: str) -> list[str]:
        """Folders of the local modules that the files of a folder call; what cannot be read calls none."""
        if folder not in self._called:
            self._called[folder] = []
            with suppress(UnreadableError):
                for path in _module_files(folder, variables=False):
                    self._called[folder] += self._calls(path)
        return self._called[folder]

    def _calls(self, path: str) -> Iterator[str]:
        try:
            targets = [*called_folders(self.read(path), path)]
        except UnreadableError:
            return
        yield from (target for target in targets if os.path.isdir(target))


def _reason(error: UnreadableError) -> ScanError:
    return ScanError(error.message, error.path, error.line, error.column)


def _suffix(path: str, allowed: Sequence[str]) -> str:
    """The ending of a path among those allowed; raises UnreadableError where it has none of them."""
    found = [suffix for suffix in allowed if path.endswith(suffix)]
    if not found:
        raise UnreadableError(path, f"not a file that can be read here: its name ends in none of {', '.join(allowed)}")
    return max(found, key=len)


def _standard_input() -> Source:
    """A file of HCL, a plan, or JSON-syntax Terraform: HCL never begins with a brace.

    Where nothing comes, whatever was to write it has failed: that is no configuration.
    """
    stream = getattr(sys.stdin, "buffer", sys.stdin)
    data = stream.read(_LARGEST_PLAN + 1)
    text = data if isinstance(data, str) else decoded(data, _STANDARD_INPUT)
    written = text.lstrip("\ufeff \t\r\n")
    if not written:
        raise UnreadableError(_STANDARD_INPUT, "there is nothing in it")
    if not written.startswith("{"):
        return Source("-", files={"main.tf": _bounded(text)}, part=True)
    try:
        return Source("-", plan=_as_plan(text, _STANDARD_INPUT))
    except UnreadableError:
        return Source("-", files={"main.tf.json": _bounded(text)}, part=True)


def _bounded(text: str) -> str:
    if len(text) > _LARGEST_FILE:
        raise UnreadableError(_STANDARD_INPUT, f"larger than {_LARGEST_FILE // 2**20} MiB")
    return text


def _plan(path: str) -> Mapping[str, Any]:
    return _as_plan(read_text(path, _LARGEST_PLAN), path)


def _as_plan(text: str, path: str) -> Mapping[str, Any]:
    plan = parsed_json(text, path)
    if not isinstance(plan, dict) or "planned_values" not in plan:
        raise UnreadableError(path, "not a plan: `terraform show -json PLANFILE` writes one")
    return plan


def _normal(path: Path) -> str:
    return posixpath.normpath(str(path))
