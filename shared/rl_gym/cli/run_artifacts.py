"""What a run at a trainer found, fetched into a run folder: all but models and checkpoints."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, UsageError

if TYPE_CHECKING:
    from rl_gym.training.run import Run as RunFolder
    from rl_gym.wire.clients.trainer import TrainerClient
    from rl_gym.wire.run import Run

__all__ = ["fetch_run", "require_place"]

_LEFT = ("model", "adapter", "checkpoint", "incumbent/")


def require_place(client: TrainerClient, folder: Path, key: str | None) -> None:
    """Raise ConflictError for a folder that holds another run than the one that the trainer has under a key."""
    held = _held(folder)
    if held is None:
        return
    try:
        same = key is not None and client.run(held).spec.idempotency_key == key
    except UsageError:
        # No run of this trainer's.
        same = False
    if not same:
        raise _taken(folder, held)


def fetch_run(client: TrainerClient, run: Run, folder: Path) -> RunFolder:
    """Make the folder of a run, with the files of the stages that are done, but for models and checkpoints.

    Each is compared with its digest. Raises ConflictError where another run lies there, InfrastructureError where a
    file is damaged, or cannot be written.
    """
    from rl_gym.training.run import SCRATCH
    from rl_gym.training.run import Run as RunFolder

    if (held := _held(folder)) not in (None, run.id):
        raise _taken(folder, str(held))
    made = RunFolder.restore(folder, client.document(run.id))
    # Where a trainer on this machine has left something of it: now it is its user's.
    (folder / SCRATCH).unlink(missing_ok=True)
    for stage in run.stages:
        if stage.state != "done":
            continue
        at = made.stage(stage.stage)
        for name, digest in client.artifacts(run.id, stage.stage).files.items():
            if not name.startswith(_LEFT):
                _fetch(client, run.id, stage.stage, name, digest, at)
        made.seal(stage.stage)
    return made


def _held(folder: Path) -> str | None:
    """The id of the run that lies in a folder, None where none does."""
    from rl_gym.gym.files import read_document
    from rl_gym.training.run import DOCUMENT

    try:
        return str(read_document(folder / DOCUMENT).get("id", ""))
    except NotFoundError:
        return None
    except UsageError as error:
        raise ConflictError(f"{folder / DOCUMENT} is of a run, and damaged: {error}; name another folder") from None


def _taken(folder: Path, held: str) -> ConflictError:
    return ConflictError(f"{folder} holds another run, {held}, which would be lost: name another folder by --run")


def _fetch(client: TrainerClient, run: str, stage: str, name: str, digest: str, folder: Path) -> None:
    from rl_gym.gym.files import replacing
    from rl_gym.infra.object_store import is_key

    if not is_key(name):
        raise InfrastructureError(f"run {run}, stage {stage}: the trainer names a file {name!r}, which is no name")
    seen = hashlib.sha256()
    with client.file(run, stage, name) as parts, replacing(folder / name) as file:
        for part in parts:
            seen.update(part)
            file.write(part)
        if seen.hexdigest() != digest:
            raise InfrastructureError(f"run {run}, stage {stage}: {name} is not what the trainer says that it is")
