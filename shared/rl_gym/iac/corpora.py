"""The public corpora as files: found in the folder `RL_GYM_DATA`, or IaC-Eval fetched once from its public home.

Everything read here comes from elsewhere, so sizes are bounded and rows are checked before anything uses them.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rl_gym.gym.core import content_hash
from rl_gym.gym.files import replacing
from rl_gym.infra import fetching
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.fetching import UnreachableError
from rl_gym.infra.text_files import split_lines

__all__ = [
    "IAC_EVAL_DIGEST",
    "IAC_EVAL_FILE",
    "IAC_EVAL_URL",
    "at_hand",
    "cache_folder",
    "fetch_iac_eval",
    "iac_eval_rows",
    "json_rows",
]

IAC_EVAL_URL = "https://huggingface.co/datasets/autoiac-project/iac-eval/resolve/main/data.csv"
IAC_EVAL_FILE = "iac_eval.csv"
IAC_EVAL_DIGEST = "df67e550371df7a64719aba09fe9f46fcfd57345345a505440833bcfc328dfd5"
"""Checksum of IaC-Eval's rows (not of the bytes, which quoting and line ends move): `rows_digest`."""

_COLUMNS = ("Resource", "Prompt", "Rego intent", "Difficulty", "Reference output", "Intent")
_MOST_BYTES = 16 << 20
_MOST_ROWS = 20_000
_SECONDS = 30.0
_TRIES = 3


def iac_eval_rows(folder: Path | None, *, cache: Path | None = None, fetch: bool = True) -> list[Mapping[str, str]]:
    """The 458 rows of IaC-Eval, by column name, line ends as `\\n`.

    Read from `folder`; without one, from the cache (`~/.cache/rl-gym` unless given), into which they are fetched the
    first time (never with `fetch` false). Raises NotFoundError where they are not to be had, UsageError where they are
    not the rows that the frozen splits were drawn from.
    """
    if folder is not None:
        return _checked(folder / IAC_EVAL_FILE, _read(folder / IAC_EVAL_FILE))
    kept = (cache or cache_folder()) / IAC_EVAL_FILE
    if kept.is_file():
        return _checked(kept, _read(kept))
    if not fetch:
        raise NotFoundError(
            f"IaC-Eval is neither in a folder that RL_GYM_DATA names nor in {kept.parent}: `rl-gym data fetch` gets it"
        )
    return fetch_iac_eval(kept.parent)


def fetch_iac_eval(folder: Path, url: str = IAC_EVAL_URL) -> list[Mapping[str, str]]:
    """Fetch IaC-Eval into a folder, whole or not at all, and answer its rows; what was there stays on any failure.

    An answer that breaks off is asked for again, three times in all. Raises NotFoundError where it does not come,
    UsageError where what comes is not what the frozen splits were drawn from.
    """
    body = _fetch(url)
    rows = _checked(url, body)
    _keep(folder / IAC_EVAL_FILE, body)
    return rows


def at_hand(folder: Path | None, name: str) -> bool:
    """Whether a corpus can be read without a network."""
    if folder is None:
        return name == IAC_EVAL_FILE and (cache_folder() / name).is_file()
    return (folder / name).is_file()


def json_rows(folder: Path | None, name: str) -> list[Mapping[str, Any]]:
    """The rows of a JSON-lines corpus in the data folder; NotFoundError where there is no folder or no such file."""
    if folder is None:
        raise NotFoundError(f"{name} is in no public place: put it in a folder and name that in RL_GYM_DATA")
    path = folder / name
    rows: list[Mapping[str, Any]] = []
    for number, line in enumerate(split_lines(_read(path).decode("utf-8", "replace")), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UsageError(f"{path}:{number}: not a JSON value: {error}") from None
        if not isinstance(row, dict):
            raise UsageError(f"{path}:{number}: a row must be a JSON object")
        rows.append(row)
        if number > _MOST_ROWS:
            raise UsageError(f"{path}: more than {_MOST_ROWS} rows")
    return rows


def rows_digest(rows: Sequence[Mapping[str, str]]) -> str:
    """SHA-256 over the values of the rows in order."""
    return content_hash([[row[column] for column in _COLUMNS] for row in rows])


def _checked(where: Path | str, body: bytes) -> list[Mapping[str, str]]:
    """Rows from the bytes of a CSV file, refused unless they are the known ones."""
    reader = csv.DictReader(io.StringIO(body.decode("utf-8-sig", "replace"), newline=""))
    try:
        rows: list[Mapping[str, str]] = [{c: (row[c] or "").replace("\r\n", "\n") for c in _COLUMNS} for row in reader]
    except (KeyError, csv.Error) as error:
        raise UsageError(f"{where} is not IaC-Eval: {type(error).__name__} {error}") from None
    found = rows_digest(rows)
    if found != IAC_EVAL_DIGEST:
        raise UsageError(
            f"{where} is not the version of IaC-Eval that the frozen splits were drawn from "
            f"({len(rows)} rows, checksum {found[:12]}, expected {IAC_EVAL_DIGEST[:12]}): "
            f"put that version in a folder as {IAC_EVAL_FILE} and name the folder in RL_GYM_DATA"
        )
    return rows


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            body = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError(f"{path} is not there: RL_GYM_DATA must name the folder that holds it") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(body) > _MOST_BYTES:
        raise UsageError(f"{path} is larger than {_MOST_BYTES >> 20} MB, which no corpus here is")
    return body


def _fetch(url: str) -> bytes:
    reason: object = ""
    for _ in range(_TRIES):
        try:
            answer = fetching.fetch(url, most_bytes=_MOST_BYTES, seconds=_SECONDS)
        except UnreachableError as error:
            reason = error
            continue
        if answer.status == 200:
            return answer.body
        reason = f"HTTP status {answer.status}"
        if answer.status < 500:
            break
    raise NotFoundError(
        f"IaC-Eval is not on this machine and could not be fetched from {url} ({reason}): "
        f"go online once, or put the file in a folder as {IAC_EVAL_FILE} and name the folder in RL_GYM_DATA"
    )


def _keep(path: Path, body: bytes) -> None:
    """Into the cache in one step, so that a reader beside us never sees half a file."""
    try:
        with replacing(path) as file:
            file.write(body)
    except InfrastructureError as error:
        raise UsageError(f"IaC-Eval was fetched, but {error}") from None


def cache_folder() -> Path:
    """Where fetched files are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rl-gym"
