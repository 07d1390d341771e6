"""The folder that `rl-gym data mine` leaves: written whole or not at all, read only as it was written."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rl_gym
from rl_gym.gym.core import Episode
from rl_gym.gym.files import read_document, replace_text
from rl_gym.gym.splits import FrozenSplit, freeze, read_frozen, verify, write_frozen
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.text_files import read_bytes

if TYPE_CHECKING:
    from rl_gym.iac.mining.mine import Mined, MinedEpisode, Options

__all__ = ["HOLDOUT", "REPORT", "MinedFolder", "read_mined", "refuse_foreign", "write_mined"]

HOLDOUT = "mined-holdout"
REPORT = "report.json"
_TRAIN_ROWS = "train.jsonl"
_HOLDOUT_ROWS = f"{HOLDOUT}.jsonl"
_FROZEN = f"{HOLDOUT}.txt"
_SKIPPED = "skipped.jsonl"
_FORMAT = "rl-gym mined episodes 1"
_LARGEST = 1 << 30


@dataclass(frozen=True, slots=True)
class MinedFolder:
    """What a folder of mined episodes holds; `frozen` lists the held-out ones, None where there are none."""

    train: list[Episode]
    holdout: list[Episode]
    frozen: FrozenSplit | None


def write_mined(folder: Path, mined: Mined, options: Options) -> None:
    """Write episodes, what was skipped and the report; what an earlier mining left there is replaced, all at once.

    The same in gives the same bytes. Raises UsageError where something else is there, InfrastructureError where the
    disk refuses.
    """
    refuse_foreign(folder)
    target = Path(os.path.realpath(folder))
    made = target.with_name(f".{target.name}.{os.getpid()}.partial")
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made.mkdir()
        _fill(made, mined, options)
        if target.exists():
            target.rename(old)
        try:
            made.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    except OSError as error:
        raise InfrastructureError(f"{folder}: could not be written: {error.strerror or error}") from error
    finally:
        for leftover in (made, old):
            with suppress(OSError):
                shutil.rmtree(leftover)


def refuse_foreign(folder: Path) -> None:
    """Only what an earlier mining left is replaced: UsageError for a folder with anything else, and for a file."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder: name another for --out")
    ours = {REPORT, _TRAIN_ROWS, _HOLDOUT_ROWS, _FROZEN, _SKIPPED}
    if others := sorted({entry.name for entry in folder.iterdir()} - ours):
        raise UsageError(
            f"{folder} holds {others[0]!r}, which is none of mined episodes': name another folder for --out"
        )


def _fill(folder: Path, mined: Mined, options: Options) -> None:
    _write(folder / _TRAIN_ROWS, map(_row, mined.train))
    _write(folder / _HOLDOUT_ROWS, map(_row, mined.holdout))
    _write(folder / _SKIPPED, map(asdict, mined.skipped))
    if mined.holdout:
        write_frozen(folder / _FROZEN, freeze(HOLDOUT, (one.episode for one in mined.holdout)))
    files = {path.name: {"sha256": _digest(path), "bytes": path.stat().st_size} for path in sorted(folder.iterdir())}
    report = {
        "format": _FORMAT,
        "version": rl_gym.__version__,
        "options": asdict(options),
        "counts": {
            "repositories": mined.repositories,
            "modules": mined.modules,
            "train": len(mined.train),
            "train_without_reference": sum("reference" not in one.episode.data for one in mined.train),
            "train_whole": sum(one.attribution.get("whole") is True for one in mined.train),
            HOLDOUT: len(mined.holdout),
            "skipped": len(mined.skipped),
        },
        "reasons": mined.reasons,
        "files": files,
    }
    replace_text(folder / REPORT, json.dumps(report, indent=2, ensure_ascii=False) + "\n")


def _row(one: MinedEpisode) -> dict[str, Any]:
    return {**one.episode.to_dict(), "attribution": dict(one.attribution)}


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("wb") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_mined(folder: Path) -> MinedFolder:
    """The episodes of a folder; NotFoundError where there is none, UsageError where a file is not what was written."""
    try:
        report = read_document(folder / REPORT)
    except NotFoundError:
        raise NotFoundError(
            f"{folder}: no mined episodes there: `rl-gym data mine DIR --out {folder}` makes them"
        ) from None
    except UsageError as error:
        raise UsageError(f"{folder / REPORT}: {error}") from None
    files = report.get("files")
    if report.get("format") != _FORMAT or not isinstance(files, dict):
        raise UsageError(f"{folder / REPORT}: not the report of `rl-gym data mine`, or of another version of it")
    train, holdout = (_episodes(folder / name, files.get(name)) for name in (_TRAIN_ROWS, _HOLDOUT_ROWS))
    frozen = read_frozen(folder / _FROZEN, HOLDOUT) if holdout else None
    if frozen:
        verify(frozen, holdout)
        both = [one.id for one in train if one.hash in frozen.episodes]
        if both:
            raise UsageError(f"{folder}: {both[0]} is among what trains and in {HOLDOUT}")
    return MinedFolder(train, holdout, frozen)


def _episodes(path: Path, told: Any) -> list[Episode]:
    data = read_bytes(str(path), _LARGEST)
    if not isinstance(told, dict) or told.get("sha256") != hashlib.sha256(data).hexdigest():
        raise UsageError(f"{path} is not what its report says: mine again, or put the file back")
    episodes = []
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            episode = Episode.from_dict(json.loads(line))
            known = all(isinstance(one, str) for one in (episode.id, episode.request, episode.source))
            if not (known and isinstance(episode.data, dict)):
                raise TypeError("not the fields of an episode")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: no episode: {type(error).__name__} {error}") from None
        episodes.append(episode)
    return episodes
