"""Recorded completions of an outside model: folders of `epN.md` beside a manifest, read within bounds.

`epN.md` answers episode N of the anchor, from 0, as the model wrote it. `manifest.json` says what wrote it, when, to
which kind of prompt, and how many tokens that took.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.text_files import UnreadableError, parsed_json, read_text
from rl_gym.wire.message import Count, Message, refusal

__all__ = ["MANIFEST", "Manifest", "PromptKind", "Recorded", "TokenPrices", "Tokens", "read_baselines"]

MANIFEST = "manifest.json"
PromptKind = Literal["blind", "rulebook"]

_EPISODE = re.compile(r"ep(0|[1-9][0-9]{0,5})\.md")
_MANIFEST_BYTES = 1 << 20
_COMPLETION_BYTES = 1 << 20
_COMPLETION_CHARACTERS = 262_144
_MOST_FOLDERS = 32
_MOST_FILES = 10_000


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError("a day is needed, such as 2026-05-31") from None


class Tokens(Message):
    """Of one completion or of all together."""

    prompt: Count
    completion: Count


class TokenPrices(Message):
    """US dollars a million tokens; 0 is free."""

    prompt_million: float = Field(ge=0, le=1e6)
    completion_million: float = Field(ge=0, le=1e6)


class Manifest(Message):
    """What was recorded. `tokens` are those of all files together, or `files` has each file's own."""

    model: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=200)]
    date: Annotated[str, AfterValidator(_day)]
    prompt: PromptKind
    tokens: Tokens | None = None
    files: dict[str, Tokens] | None = Field(default=None, max_length=_MOST_FILES)
    prices: TokenPrices | None = None

    @model_validator(mode="after")
    def _tokens_once(self) -> Manifest:
        if (self.tokens is None) == (self.files is None):
            raise ValueError("tokens are needed: either `tokens` of all files, or `files` with each one's own")
        return self


@dataclass(frozen=True, slots=True)
class Recorded:
    """One folder: its manifest, and the completions by the number of their episode, in order."""

    folder: Path
    manifest: Manifest
    completions: Mapping[int, str]

    @property
    def name(self) -> str:
        return f"{self.manifest.model} ({self.manifest.prompt})"

    def tokens(self) -> Tokens:
        """Of all files together."""
        if self.manifest.files is None:
            assert self.manifest.tokens is not None
            return self.manifest.tokens
        each = self.manifest.files.values()
        return Tokens(prompt=sum(one.prompt for one in each), completion=sum(one.completion for one in each))

    def tokens_of(self, number: int) -> int | None:
        """The tokens of one completion, where they were counted file by file."""
        return None if self.manifest.files is None else self.manifest.files[f"ep{number}.md"].completion


def read_baselines(folder: Path, episodes: int) -> list[Recorded]:
    """The recorded folder, or each of those in it, by model and kind of prompt; `episodes` is how many the anchor has.

    Raises NotFoundError where there is no manifest, UsageError (`file: why`) for whatever else is not as it should be.
    """
    if not folder.is_dir():
        raise NotFoundError(f"{folder}: no such folder")
    if (folder / MANIFEST).exists():
        return [_read(folder, episodes)]
    inner = [path for path in _entries(folder) if path.is_dir()]
    if not inner:
        raise NotFoundError(f"{folder}: neither {MANIFEST} nor a folder with one is in it")
    if len(inner) > _MOST_FOLDERS:
        raise UsageError(f"{folder}: {len(inner)} folders; at most {_MOST_FOLDERS} are read")
    found: dict[str, Recorded] = {}
    for path in inner:
        one = _read(path, episodes)
        if (other := found.setdefault(one.name, one)) is not one:
            raise UsageError(f"{path}: {one.name} stands in {other.folder.name} already; one folder is read for each")
    return sorted(found.values(), key=lambda one: (one.manifest.model, one.manifest.prompt))


def _read(folder: Path, episodes: int) -> Recorded:
    manifest = _manifest(folder / MANIFEST)
    numbers = sorted(_number(path, episodes) for path in _entries(folder) if path.name != MANIFEST)
    if not numbers:
        raise UsageError(f"{folder}: no completion epN.md is in it")
    if manifest.files is not None:
        _counted(folder, manifest.files, {f"ep{number}.md" for number in numbers})
    return Recorded(folder, manifest, {number: _completion(folder / f"ep{number}.md") for number in numbers})


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder, by name; hidden files aside."""
    found: list[Path] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if len(found) == _MOST_FILES:
                raise UsageError(f"{folder}: more than {_MOST_FILES} files")
            found.append(folder / entry.name)
    return sorted(found)


def _manifest(path: Path) -> Manifest:
    try:
        content = parsed_json(read_text(str(path), _MANIFEST_BYTES), str(path))
        return Manifest.model_validate(content)
    except ValidationError as error:
        raise UsageError(f"{path}: {refusal(error)}") from None
    except UnreadableError as error:
        if not path.exists():
            raise NotFoundError(f"{path}: no such file") from error
        raise


def _number(path: Path, episodes: int) -> int:
    found = _EPISODE.fullmatch(path.name)
    if found is None:
        raise UsageError(f"{path}: neither {MANIFEST} nor epN.md, N the number of an episode from 0")
    number = int(found[1])
    if number >= episodes:
        raise UsageError(f"{path}: there is no episode {number}, they are 0 to {episodes - 1}")
    return number


def _counted(folder: Path, counted: Mapping[str, Tokens], there: set[str]) -> None:
    """Refuse tokens without a file, and a file without tokens."""
    if odd := sorted(there - counted.keys()):
        raise UsageError(f"{folder / MANIFEST}: files has no tokens of {odd[0]}")
    if odd := sorted(counted.keys() - there):
        raise UsageError(f"{folder / MANIFEST}: files has tokens of {odd[0]}, which is not there")


def _completion(path: Path) -> str:
    text = read_text(str(path), _COMPLETION_BYTES)
    if len(text) > _COMPLETION_CHARACTERS:
        raise UsageError(f"{path}: {len(text)} characters; a completion has at most {_COMPLETION_CHARACTERS}")
    return text
