"""Models from S3: the files that lie directly below a prefix."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from shutil import disk_usage

from rl_gym.infra.errors import InfrastructureError, NotFoundError, TooLargeError, UsageError
from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.serving.weights.allowed import Terms
from rl_gym.serving.weights.files import is_wanted
from rl_gym.serving.weights.sources import Source

__all__ = ["copy"]

_MOST_LISTED = 10_000
_CHUNK = 1 << 20


def copy(source: Source, folder: Path, terms: Terms) -> None:
    """Fetch a model into `folder`. Credentials and endpoint are those that boto3 finds.

    Raises NotFoundError where nothing lies there, UsageError for what may not be taken, InfrastructureError where S3
    or the disk fails.
    """
    bucket, _, prefix = source.place.partition("/")
    store = open_store(f"s3://{bucket}?read_only=true")
    keys = list(islice(store.list(f"{prefix}/"), _MOST_LISTED + 1))
    if not keys:
        raise NotFoundError(f"{source}: nothing lies there, or it may not be listed")
    if len(keys) > _MOST_LISTED:
        raise UsageError(f"{source} has more than {_MOST_LISTED} files")
    room = terms.most_bytes
    for key in keys:
        name = key.removeprefix(f"{prefix}/")
        if is_wanted(name):
            room -= _copy(store, key, folder / name, room, source)


def _copy(store: ObjectStore, key: str, path: Path, room: int, source: Source) -> int:
    size = 0
    with store.open(key) as stream, path.open("xb") as file:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            if size > room:
                raise TooLargeError(f"{source} has more bytes than RL_GYM_WEIGHTS_BYTES allows")
            if len(chunk) > disk_usage(path.parent).free:
                raise InfrastructureError(f"{source}: the disk of {path.parent.parent} is full")
            file.write(chunk)
    return size
