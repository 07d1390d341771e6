"""The repositories in folders of clones: which there are, what git says of them, and their files, never over a link."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

from rl_gym.iac.root_modules import SKIPPED_FOLDERS, is_source
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.text_files import UnreadableError, read_text

__all__ = ["Repository", "Skipped", "find_repositories", "is_licence"]

_MOST_REPOSITORIES = 50_000
_MOST_FOLDERS = 2_000_000
_MOST_ENTRIES = 50_000
_MOST_SOURCES = 5_000
_DEEPEST = 16
_LARGEST_OF_GIT = 1024 * 1024
_LICENCE = re.compile(r"(?:un)?licen[cs]e(?:[-_.][\w.-]+)?|copying(?:[-_.][\w.-]+)?", re.IGNORECASE)
_NO_LICENCE = (".tf", ".json", ".py", ".sh", ".go", ".js", ".yml", ".yaml", ".tpl", ".html")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REFERENCE = re.compile(r"refs/[\w./-]{1,200}")
_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+){0,5}", re.ASCII)
_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://)?(?:[^/@\s]*@)?(?P<host>[\w.-]+\.[a-z]+)(?::\d+)?[:/](?P<path>[^\s?#]+)"
)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that makes no episode: where it is, why, and `detail` where there is more to tell."""

    repository: str
    path: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Repository:
    """A checkout: `name` (host/owner/name where git knows its origin, else by folders) and where it lies.

    `commit` is None where git does not tell. `modules` are the folders with Terraform source, "." or relative, each
    with the names of its source files in order; `licences` the folders with files of a licence or a notice, likewise.
    """

    name: str
    folder: Path
    commit: str | None
    modules: dict[str, list[str]] = field(default_factory=dict)
    licences: dict[str, list[str]] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)

    def read(self, path: str, largest: int) -> str:
        """A file of it that `find_repositories` listed; raises UnreadableError, by its path in the repository."""
        try:
            return read_text(str(self.folder / path), largest)
        except UnreadableError as error:
            raise UnreadableError(path, error.message, error.line, error.column) from None


def is_licence(name: str) -> bool:
    """Whether a file is the text of a licence by its name."""
    return _LICENCE.fullmatch(name) is not None and not name.lower().endswith(_NO_LICENCE)


def find_repositories(folders: Sequence[Path]) -> list[Repository]:
    """The repositories at and below folders, by name, each once.

    A repository is the topmost folder with `.git` or a licence, and each folder with `.git` below; a folder without
    any of them is one itself. Raises NotFoundError for what is no folder, UsageError where there are too many.
    """
    found: dict[Path, Repository] = {}
    for folder in folders:
        if not folder.is_dir():
            raise NotFoundError(f"{folder}: there is no such folder")
        top = folder.resolve()
        roots = list(islice(_roots(top, count()), _MOST_REPOSITORIES + 1)) or [top]
        for root in roots:
            if len(found) >= _MOST_REPOSITORIES:
                raise UsageError(f"{folder}: more than {_MOST_REPOSITORIES} repositories: mine them in parts")
            if root not in found:
                found[root] = _repository(root, top)
    return sorted(found.values(), key=lambda one: (one.name.casefold(), one.name, str(one.folder)))


def _roots(folder: Path, seen: Iterator[int], inside: bool = False, depth: int = 0) -> Iterator[Path]:
    if next(seen) >= _MOST_FOLDERS:
        raise UsageError(f"{folder}: more than {_MOST_FOLDERS} folders: mine them in parts")
    entries = _entries(folder) or []
    if any(entry.name == ".git" for entry in entries) or (
        not inside and any(is_licence(entry.name) and entry.is_file(follow_symlinks=False) for entry in entries)
    ):
        yield folder
        inside = True
    if depth < _DEEPEST:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and entry.name not in SKIPPED_FOLDERS:
                yield from _roots(Path(entry.path), seen, inside, depth + 1)


def _entries(folder: Path) -> list[os.DirEntry[str]] | None:
    """What a folder holds, by name; None where it does not open."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return None


def _repository(root: Path, top: Path) -> Repository:
    git = _git_folder(root, top)
    origin = _origin(git) if git else None
    relative = root.relative_to(top).as_posix() if root != top else root.name
    name = origin or (relative if _NAME.fullmatch(relative) else re.sub(r"[^\w./-]+", "_", relative, flags=re.ASCII))
    repository = Repository(name, root, _commit(git) if git else None)
    _list(repository)
    return repository


def _list(repository: Repository) -> None:
    """Find sources and licences, in bounds; a repository that exceeds one is left without any module."""
    seen = sources = 0
    pending = [(repository.folder, ".", 0)]
    while pending:
        folder, relative, depth = pending.pop()
        entries = _entries(folder)
        if entries is None:
            repository.skipped.append(Skipped(repository.name, relative, "folder that does not open"))
        for entry in entries or ():
            seen += 1
            path = entry.name if relative == "." else f"{relative}/{entry.name}"
            if seen > _MOST_ENTRIES or sources > _MOST_SOURCES:
                bound = f"{_MOST_ENTRIES} files" if seen > _MOST_ENTRIES else f"{_MOST_SOURCES} Terraform files"
                repository.modules.clear()
                repository.skipped[:] = [Skipped(repository.name, ".", f"repository of more than {bound}")]
                return
            if not entry.name.isprintable():
                repository.skipped.append(Skipped(repository.name, ascii(path)[1:-1], "name that is no text"))
            elif entry.is_symlink():
                if is_source(entry.name):
                    repository.skipped.append(Skipped(repository.name, path, "link"))
            elif entry.is_dir(follow_symlinks=False):
                if entry.name in SKIPPED_FOLDERS or os.path.lexists(os.path.join(entry.path, ".git")):
                    continue
                if depth >= _DEEPEST:
                    repository.skipped.append(Skipped(repository.name, path, f"deeper than {_DEEPEST} folders"))
                else:
                    pending.append((Path(entry.path), path, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                if is_source(entry.name):
                    sources += 1
                    repository.modules.setdefault(relative, []).append(entry.name)
                elif is_licence(entry.name) or entry.name.upper().startswith("NOTICE"):
                    repository.licences.setdefault(relative, []).append(entry.name)
            elif is_source(entry.name):
                repository.skipped.append(Skipped(repository.name, path, "not a regular file"))


def _git_folder(root: Path, top: Path) -> Path | None:
    """Where git keeps what it knows: `.git`, or what a file of that name leads to below `top`."""
    git = root / ".git"
    if git.is_symlink() or not git.exists():
        return None
    if git.is_dir():
        return git
    line = _read(git)
    target = (root / line[8:].strip()).resolve() if line and line.startswith("gitdir: ") else None
    return target if target and target.is_dir() and target.is_relative_to(top) else None


def _read(path: Path) -> str | None:
    """A small regular file that is no link; None where there is none."""
    try:
        return read_text(str(path), _LARGEST_OF_GIT) if stat.S_ISREG(path.lstat().st_mode) else None
    except (OSError, ValueError, UnreadableError):
        return None


def _commit(git: Path) -> str | None:
    """The commit that is checked out, as hex digits."""
    head = (_read(git / "HEAD") or "").strip()
    if not head.startswith("ref: "):
        return head if _COMMIT.fullmatch(head) else None
    reference = head[5:].strip()
    if not _REFERENCE.fullmatch(reference) or ".." in reference:
        return None
    written = (_read(git / reference) or "").strip()
    if not written:
        packed = re.search(rf"^([0-9a-f]+) {re.escape(reference)}$", _read(git / "packed-refs") or "", re.MULTILINE)
        written = packed[1] if packed else ""
    return written if _COMMIT.fullmatch(written) else None


def _origin(git: Path) -> str | None:
    """`host/owner/name` of the remote `origin`, without what a user may have put before the host; None for a path."""
    config = _read(git / "config") or ""
    section = url = ""
    for line in map(str.strip, config.splitlines()):
        if line.startswith("["):
            section = line
        elif section == '[remote "origin"]' and not url and line.partition("=")[0].strip() == "url":
            url = line.partition("=")[2].strip()
    match = _REMOTE.fullmatch(url[:500])
    if match is None:
        return None
    name = f"{match['host'].lower()}/{match['path'].strip('/').removesuffix('.git')}"
    return name if _NAME.fullmatch(name) and len(name) <= 200 and ".." not in name else None
