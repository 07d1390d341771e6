"""Which root modules there are among Terraform files, and which files make each of them up."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from rl_gym.hcl import HclError, parse
from rl_gym.hcl.limits import FILES
from rl_gym.hcl.module import local_calls

__all__ = ["SKIPPED_FOLDERS", "SOURCES", "RootModule", "called_folders", "closures", "is_source", "root_modules"]

SOURCES = (".tf", ".tf.json")
SKIPPED_FOLDERS = frozenset({".terraform", ".git", "node_modules", ".venv"})
"""What Terraform and other tools keep for themselves: copies of modules, and nothing that anybody wrote here."""


@dataclass(frozen=True, slots=True)
class RootModule:
    """A module that no other one calls: its files and those of the modules that it calls, by path from its folder."""

    folder: str
    files: Mapping[str, str] = field(repr=False)

    def path(self, filename: str) -> str:
        """A file of the module, by the path that it has among all files."""
        return posixpath.normpath(posixpath.join(self.folder, filename))


def root_modules(files: Mapping[str, str]) -> list[RootModule]:
    """The root modules among files by relative path, each with everything in the folders that it takes.

    Files without any source are one module, which declares nothing.
    """
    folders: dict[str, list[str]] = {}
    for path in sorted(files):
        folders.setdefault(posixpath.dirname(path) or ".", []).append(path)
    kept = [folder for folder, paths in folders.items() if _is_kept(folder) and any(map(is_source, paths))]
    if not kept:
        return [RootModule(".", files)]

    @cache
    def called(folder: str) -> list[str]:
        targets = [target for path in folders[folder] for target in called_folders(files[path], path)]
        return [target for target in targets if target in folders]

    modules = closures(kept, called) if len(kept) > 1 else {kept[0]: kept}
    return [
        RootModule(root, {posixpath.relpath(path, root): files[path] for folder in taken for path in folders[folder]})
        for root, taken in modules.items()
    ]


def _is_kept(folder: str) -> bool:
    return SKIPPED_FOLDERS.isdisjoint(folder.split("/"))


def is_source(path: str) -> bool:
    """Whether a file is Terraform source by its name: hidden ones are not."""
    return path.endswith(SOURCES) and not posixpath.basename(path).startswith(".")


def closures(folders: Sequence[str], called: Callable[[str], Iterable[str]]) -> dict[str, list[str]]:
    """For each root module among folders, itself and the folders of the modules that it calls, directly or not.

    A root is what no other folder calls and, of folders that call one another in a circle, the first: each folder is
    in what some root takes.
    """
    wanted = {child for folder in folders for child in called(folder)}
    found: dict[str, list[str]] = {}
    taken: set[str] = set()
    for folder in sorted(folders, key=wanted.__contains__):
        if folder not in taken:
            found[folder] = _closure(folder, called)
            taken.update(found[folder])
    return found


def _closure(root: str, called: Callable[[str], Iterable[str]]) -> list[str]:
    found = {root: None}
    pending = [root]
    while pending:
        for child in called(pending.pop()):
            if child not in found:
                found[child] = None
                pending.append(child)
    return list(found)


def called_folders(text: str, path: str) -> Iterator[str]:
    """The folders of the local modules that a source file calls; one that cannot be read calls none."""
    if not is_source(path) or "module" not in text:
        return
    try:
        file = parse(f"{text}\n", path, FILES)
    except HclError:
        return
    for _, source in local_calls([file]):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(path), source))
