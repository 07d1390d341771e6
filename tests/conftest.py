"""Material that tests need from outside the checkout; each fixture skips, with the reason, where it is absent."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

# A shell's background job starts with Ctrl-C ignored, and children inherit that; some tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
_MOST_FOLDERS = 20_000
_DEEPEST = 8


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the public corpora: `RL_GYM_DATA`, else `../shared/data` beside the checkout."""
    folder = Path(os.environ.get("RL_GYM_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "iac_eval.csv").is_file():
        pytest.skip(f"the corpora are not in {folder} (RL_GYM_DATA names another folder)")
    return folder


@pytest.fixture(scope="session")
def cases_path(data_dir: Path) -> Path:
    """The labelled verdicts, a JSON line each: `cases/verdicts.jsonl` beside the data folder."""
    path = data_dir.parent / "cases" / "verdicts.jsonl"
    if not path.is_file():
        pytest.skip(f"the labelled cases are not at {path}")
    return path


@pytest.fixture(scope="session")
def terraform() -> str:
    """The path of a `terraform` binary."""
    binary = shutil.which("terraform")
    if binary is None:
        pytest.skip("no terraform on the PATH")
    return binary


@pytest.fixture(scope="session")
def provider_mirror() -> Path:
    """A filesystem mirror (`HOST/NAMESPACE/TYPE/VERSION/PLATFORM/`) that holds version 5 of the AWS provider."""
    for folder in _provider_folders():
        for path in _walk(folder):
            if any(path.glob("terraform-provider-aws_v5*")):
                # mirror / host / namespace / type / version / platform
                return path.parents[4]
    pytest.skip("no AWS provider 5.x in a plugin folder of this machine (TF_PLUGIN_MIRROR names another)")


def _provider_folders() -> Iterator[Path]:
    for variable in ("TF_PLUGIN_MIRROR", "TF_PLUGIN_CACHE_DIR"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    yield Path.home() / ".terraform.d"
    yield from map(Path, ("/usr/share/terraform", "/usr/local/share/terraform", "/opt"))


def _walk(folder: Path) -> Iterator[Path]:
    """Every folder below, at most `_DEEPEST` deep and `_MOST_FOLDERS` in all: a mirror is small."""
    for seen, (current, names, _) in enumerate(os.walk(folder)):
        depth = len(Path(current).relative_to(folder).parts)
        if seen > _MOST_FOLDERS:
            return
        if depth >= _DEEPEST:
            names.clear()
        yield Path(current)
