"""A run is a folder: its resolved configuration, a folder a stage, and a manifest of digests where a stage ended.

A stage whose manifest stands is skipped, so a run goes on where it stopped; a folder whose files no longer match their
manifest is refused in one line.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from rl_gym import __version__
from rl_gym.gym.files import read_document, replace_text
from rl_gym.infra.digests import file_digest, file_names
from rl_gym.infra.errors import ConflictError, NotFoundError, UsageError
from rl_gym.training.config import Config, parse
from rl_gym.training.files import writing

__all__ = ["DOCUMENT", "MANIFEST", "SCRATCH", "Run", "latest_run", "locked"]

DOCUMENT = "run.json"
MANIFEST = "manifest.json"
SCRATCH = ".scratch"
"""Stands in a run folder that is a trainer's own, which it removes; one that somebody has made or fetched stays."""

_PACKAGES = ("torch", "transformers", "tokenizers", "trl", "peft", "accelerate", "datasets")


@dataclass(frozen=True)
class Run:
    """One run folder and the configuration that it was made with."""

    folder: Path
    config: Config

    @classmethod
    def create(cls, folder: Path, config: Config, *, now: datetime, digests: Mapping[str, str]) -> Run:
        """Make the folder; `digests` name what the run starts from. ConflictError where a run lies there already."""
        if (folder / DOCUMENT).exists():
            raise ConflictError(f"{folder} holds a run already: go on with it by `rl-gym pipeline --resume {folder}`")
        document = {
            "id": folder.name,
            "created": now.isoformat(timespec="seconds"),
            "seed": config.seed,
            "config": config.model_dump(mode="json"),
            "versions": _versions(),
            "digests": dict(digests),
        }
        _write(folder / DOCUMENT, document)
        return cls(folder, config)

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Read a run folder; NotFoundError or UsageError, in one line, where it is none or damaged."""
        path = folder / DOCUMENT
        try:
            document = read_document(path)
        except NotFoundError:
            raise NotFoundError(f"{folder}: no run there ({DOCUMENT} is missing)") from None
        except UsageError as error:
            raise UsageError(f"{path} is damaged: {error}") from None
        if not isinstance(document.get("config"), dict):
            raise UsageError(f"{path} is damaged: it holds no configuration")
        return cls(folder, parse(document["config"], str(path)))

    @classmethod
    def restore(cls, folder: Path, document: bytes) -> Run:
        """Make the folder of a run that was begun elsewhere, of what its `run.json` holds there."""
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        replace_text(folder / DOCUMENT, document.decode("utf-8", errors="replace"))
        return cls.open(folder)

    @property
    def log(self) -> Path:
        """What the run's processes printed."""
        return self.folder / "log.txt"

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages of this run, in order."""
        return self.config.stages

    def metrics(self, stage: str) -> Path:
        """Where a stage that trains leaves one JSON line for each thing that its trainer logged."""
        return self.folder / stage / "metrics.jsonl"

    def stage(self, name: str) -> Path:
        """The folder of a stage, made where it is not there yet."""
        folder = self.folder / name
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return folder

    def stands(self, name: str) -> bool:
        """Whether a stage has ended, on what the stage before it holds now.

        Raises UsageError where files were lost or changed after the stage ended.
        """
        folder = self.folder / name
        try:
            manifest = read_document(folder / MANIFEST)
        except NotFoundError:
            return False
        except UsageError as error:
            raise UsageError(f"{folder / MANIFEST} is damaged: {error}; {_remedy(folder)}") from None
        files = manifest.get("files")
        if not isinstance(files, dict):
            raise UsageError(f"{folder / MANIFEST} is damaged: it lists no files; {_remedy(folder)}")
        for relative, digest in files.items():
            path = folder / relative
            if not path.is_file():
                raise UsageError(f"{path} is missing; {_remedy(folder)}")
            if file_digest(path) != digest:
                raise UsageError(f"{path} is not what stage {name!r} wrote; {_remedy(folder)}")
        return bool(manifest.get("inputs") == self._inputs(name))

    def require(self, name: str) -> None:
        """Raise NotFoundError where a stage has not ended; UsageError as `stands`."""
        if not self.stands(name):
            raise NotFoundError(
                f"{self.folder}: stage {name!r} has not ended: `rl-gym pipeline --resume {self.folder}`"
            )

    def require_base(self, digest: str) -> None:
        """Raise UsageError where the run began with a base of another digest than it finds now."""
        digests = read_document(self.folder / DOCUMENT).get("digests")
        began = digests.get("base") if isinstance(digests, dict) else None
        if began not in (None, digest):
            raise UsageError(
                f"{self.folder}: model.base ({self.config.model.base}) is not what the run began with: its sha256 is "
                f"{digest[:12]}, and was {str(began)[:12]}; put it back, or begin a new run"
            )

    def seal(self, name: str) -> None:
        """End a stage: record the digest of each file that it wrote, and of the stage that it read."""
        folder = self.folder / name
        files = {relative: file_digest(folder / relative) for relative in file_names(folder) if relative != MANIFEST}
        _write(folder / MANIFEST, {"stage": name, "files": files, "inputs": self._inputs(name)})

    def clear(self, name: str) -> None:
        """Drop all that a stage has left."""
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def ended(self, name: str) -> bool:
        """Whether a stage left a manifest, valid or not."""
        return (self.folder / name / MANIFEST).exists()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes out of this folder; ConflictError where one is at work in it."""
        with locked(self.folder):
            yield

    def _inputs(self, name: str) -> dict[str, str]:
        before = self.stages[: self.stages.index(name)][-1:]
        return {stage: file_digest(self.folder / stage / MANIFEST) for stage in before if self.ended(stage)}


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of the folder of a run, damaged or not; ConflictError where one is at work in it."""
    path = folder / ".lock"
    with writing(path):
        stream = path.open("w")
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConflictError(f"{folder}: another process is at work in this run") from None
        yield


def latest_run(root: Path, *, stage: str, holding: Sequence[str] = ()) -> Run | None:
    """The run below `root` in which `stage` ended last, or None; only runs whose stage has one of `holding` count."""
    ended = (
        path
        for path in root.glob(f"*/{stage}/{MANIFEST}")
        if not holding or any((path.parent / name).exists() for name in holding)
    )
    found = max(ended, key=lambda path: path.stat().st_mtime_ns, default=None)
    return Run.open(found.parent.parent) if found else None


def _write(path: Path, document: Mapping[str, Any]) -> None:
    replace_text(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _remedy(folder: Path) -> str:
    return f"delete {folder} to run that stage again"


def _versions() -> dict[str, str]:
    versions = {"rl-gym": __version__}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
