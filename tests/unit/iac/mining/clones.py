"""Small clones of repositories, as git leaves them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def wording(name: str, holder: str = "Ada Lovelace", year: int = 2021) -> str:
    """The text of a licence as a repository has it."""
    text = (files("rl_gym.iac") / "data" / "licences" / f"{name}.txt").read_text(encoding="utf-8")
    body = re.sub(r"\bHOLDER\b", "COPYRIGHT HOLDERS", text)
    return f"{name} License\n\nCopyright (c) {year} {holder}\n\n{body}"


MIT = wording("MIT")


def clone(folder: Path, origin: str | None, sources: Mapping[str, str], licence: str | None = MIT) -> Path:
    """Write a clone: its files by path, its licence, and what git keeps of its origin and its commit."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in sources.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if licence is not None:
        (folder / "LICENSE").write_text(licence)
    git = folder / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text(f"{COMMIT}\n")
    remote = f'[remote "origin"]\n\turl = {origin}\n' if origin else ""
    (git / "config").write_text(f'[core]\n\tbare = false\n{remote}[branch "main"]\n\tremote = origin\n')
    return folder


def resource(kind: str, label: str = "this", /, **arguments: str) -> str:
    """A block of HCL; the arguments are expressions."""
    body = "".join(f"  {key} = {value}\n" for key, value in arguments.items())
    return f'resource "{kind}" "{label}" {{\n{body}}}\n'
