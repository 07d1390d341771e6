"""Models from the hub: their safetensors and text alone, at one commit, each file as the hub itself lists it."""

from __future__ import annotations

import errno
import hashlib
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from rl_gym.infra.boundary import is_inside
from rl_gym.infra.digests import file_digest
from rl_gym.infra.errors import ForbiddenError, InfrastructureError, NotFoundError, RlGymError, UsageError
from rl_gym.infra.extras import extra
from rl_gym.serving.weights.allowed import Terms
from rl_gym.serving.weights.files import check_listing, is_wanted
from rl_gym.serving.weights.sources import Source

__all__ = ["download"]

_MOST_LISTED = 10_000
_CALL_SECONDS = 30.0
_START_SECONDS = 600.0
_BYTES_A_SECOND = 1_000_000
_SLACK_BYTES = 16 << 20


def download(source: Source, commit: str, folder: Path, terms: Terms) -> str:
    """Fetch a model into `folder`, at `commit` if that is known; gives the commit.

    Raises NotFoundError, ForbiddenError or UsageError for a model that is not to be had or may not be taken,
    InfrastructureError where the hub or the disk fails.
    """
    with extra("serve"):
        from huggingface_hub import HfApi, constants, snapshot_download
    if terms.closed and not is_inside(constants.ENDPOINT):
        raise UsageError(f"{source} is not stored here, and the boundary is closed (RL_GYM_BOUNDARY)")
    api = HfApi()
    with _explained(source):
        if not commit:
            commit = api.model_info(source.place, revision=source.revision or None, timeout=_CALL_SECONDS).sha or ""
        listed = list(islice(api.list_repo_tree(source.place, recursive=True, revision=commit), _MOST_LISTED + 1))
    if len(listed) > _MOST_LISTED:
        raise UsageError(f"{source} has more than {_MOST_LISTED} files")
    files: dict[str, Any] = {entry.path: entry for entry in listed if hasattr(entry, "blob_id")}
    check_listing({name: entry.size for name, entry in files.items()}, source, terms.most_bytes)
    wanted = {name: entry for name, entry in files.items() if is_wanted(name)}
    size = sum(entry.size for entry in wanted.values())
    if size > (free := shutil.disk_usage(folder).free):
        raise InfrastructureError(f"{source} needs {size} bytes on the disk of {folder.parent}, which has {free} left")
    with _explained(source):
        snapshot_download(
            source.place,
            revision=commit,
            local_dir=folder,
            allow_patterns=sorted(wanted),
            tqdm_class=_bounded(source, size),
        )
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    for name, entry in wanted.items():
        if not _is_as_listed(folder / name, entry):
            raise InfrastructureError(f"{source}: {name} is not what the hub lists: it was damaged on its way")
    return commit


def _is_as_listed(path: Path, entry: Any) -> bool:
    if not path.is_file() or path.stat().st_size != entry.size:
        return False
    if entry.lfs is not None:
        return file_digest(path) == str(entry.lfs.sha256)
    body = path.read_bytes()
    # Git's own name for a file's content.
    return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest() == str(entry.blob_id)


def _bounded(source: Source, size: int) -> Any:
    """A progress bar that ends the download, where more comes than was listed or it takes too long."""
    from tqdm.auto import tqdm

    seconds = _START_SECONDS + size / _BYTES_A_SECOND
    ends = time.monotonic() + seconds

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            options.pop("name", None)
            # None shows it on a terminal alone.
            super().__init__(*args, **{**options, "disable": None})
            self.arrived = 0.0

        def update(self, n: float | None = 1) -> Any:
            self.arrived += n or 0
            # What is asked for again counts twice.
            if self.arrived > 2 * size + _SLACK_BYTES:
                raise InfrastructureError(f"{source}: the hub sends more than it lists")
            if time.monotonic() > ends:
                raise InfrastructureError(f"{source}: not fetched within {seconds:.0f} s")
            return super().update(n)

    return Bar


@contextmanager
def _explained(source: Source) -> Iterator[None]:
    """What the hub's client raises, in one line of ours: what a server wrote is not repeated."""
    try:
        yield
    except RlGymError:
        raise
    except Exception as error:
        # Whatever an odd answer makes the client raise; it has more kinds than it names.
        raise _explanation(source, error) from None


def _explanation(source: Source, error: Exception) -> RlGymError:
    from huggingface_hub import errors

    if isinstance(error.__cause__, Exception) and isinstance(error, errors.LocalEntryNotFoundError):
        return _explanation(source, error.__cause__)
    if isinstance(error, errors.HFValidationError):
        return UsageError(f"{source} is no name that the hub's models have")
    if isinstance(error, errors.OfflineModeIsEnabled):
        return NotFoundError(f"{source} is not stored here, and the hub is not asked (HF_HUB_OFFLINE)")
    if isinstance(error, errors.RevisionNotFoundError):
        return NotFoundError(f"{source}: the hub's model has no such revision")
    status = error.response.status_code if isinstance(error, errors.HfHubHTTPError) else 0
    if isinstance(error, errors.GatedRepoError) or status == 403:
        return ForbiddenError(f"{source} is gated: accept its terms at the hub; {_token()}")
    if isinstance(error, errors.RepositoryNotFoundError) or status in (401, 404):
        return NotFoundError(f"{source}: the hub has no such model, or it is private; {_token()}")
    if status:
        return InfrastructureError(f"{source}: the hub answers {status}")
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InfrastructureError(f"{source}: the disk is full")
    return InfrastructureError(f"{source} cannot be fetched from the hub: {type(error).__name__}")


def _token() -> str:
    from huggingface_hub import get_token

    return "the token that is set may not read it" if get_token() else "put a token that may read it in HF_TOKEN"
