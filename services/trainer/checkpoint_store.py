"""The newest checkpoint of a stage that trains, in the object store: what another machine goes on from.

    runs/RUN/STAGE/checkpoint/manifest.json       the attempt that may write, and the checkpoint that stands
    runs/RUN/STAGE/checkpoint/TOKEN-STEP/FILE     its files, by their names in the stage's folder

The manifest is written last and by compare-and-swap, so that what is half there is never taken. An attempt puts its
token in there when it begins: from then on none that it took the place of can write. A fault, of the store or of what
lies in it, costs steps and never the stage: it is logged.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, RlGymError
from rl_gym.infra.object_store import ObjectStore, is_key
from rl_gym.training import checkpoints
from rl_gym.training.chain import trainers
from rl_gym.training.files import writing
from rl_gym.training.run import MANIFEST, Run
from rl_gym.training.stages.jobs import JOB
from services.trainer.artifacts import fetch_file, read_artifacts
from services.trainer.leases import LeaseLostError
from services.trainer.work import StoppedError, Work

__all__ = ["StoredCheckpoint", "keeping_checkpoint", "remove_checkpoint"]

_log = structlog.get_logger("checkpoints")

_LOOK_SECONDS = 1.0
_MAX_MANIFEST_BYTES = 1 << 20
_TRIES = 5
"""How often a write may lose against another before it is given up: there are seldom two who write."""


@contextmanager
def keeping_checkpoint(store: ObjectStore, run: Run, stage: str, work: Work) -> Iterator[None]:
    """Have the stored checkpoint of a stage here, and while it trains its newest whole one in the store.

    Nothing happens for a stage that trains nothing, or has ended on this disk. Raises StoppedError.
    """
    if stage not in trainers(run.stages) or run.ended(stage):
        yield
        return
    ended = threading.Event()
    stored = StoredCheckpoint(store, run, stage, work.lease.token, lambda: ended.is_set() or work.stopped.is_set())
    # Off the training's path: to store one may take longer than the steps to the next.
    thread = threading.Thread(target=_keep, args=(stored, _taken(stored), ended), name="checkpoints", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def remove_checkpoint(store: ObjectStore, run: str, stage: str) -> None:
    """Remove what is stored of a stage that nobody will go on with; a fault of the store is logged."""
    try:
        for key in list(store.list(_prefix(run, stage))):
            store.delete(key)
    except RlGymError as error:
        _log.warning("a checkpoint stays in the object store", run=run, stage=stage, reason=str(error))


def _taken(stored: StoredCheckpoint) -> int:
    """The step of the stored checkpoint, 0 where none could be had."""
    try:
        return stored.take()
    except StoppedError:
        raise
    except Exception as error:
        # Whatever it is, the training can begin anew.
        stored.log.warning("no stored checkpoint is gone on with", reason=_reason(error))
        return 0


def _keep(stored: StoredCheckpoint, step: int, ended: threading.Event) -> None:
    """Store each checkpoint after `step`, once: where that fails, the next one comes."""
    while not ended.wait(_LOOK_SECONDS):
        try:
            newest = stored.newest_after(step)
            if newest is not None:
                step = checkpoints.step_of(newest)
                stored.put(newest)
        except StoppedError:
            return
        except LeaseLostError as error:
            stored.log.warning("no checkpoint of this attempt is stored any more", reason=str(error))
            return
        except FileNotFoundError:
            stored.log.info("a checkpoint was gone before it was stored", step=step)
        except Exception as error:
            # Whatever it is, the training goes on.
            stored.log.warning("a checkpoint is not stored", step=step, reason=_reason(error))


class _Manifest(BaseModel):
    """The attempt that may write, and where the checkpoint that stands lies, with its files' digests; "" for none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: int = Field(default=0, ge=0)
    step: int = Field(default=0, ge=0)
    folder: str = Field(default="", pattern=r"^(\d+-\d+)?$")
    files: dict[str, str] = {}

    @field_validator("files")
    @classmethod
    def _names_in_the_folder(cls, files: dict[str, str]) -> dict[str, str]:
        if not all(map(is_key, files)):
            raise ValueError("a name leads elsewhere")
        return files


class StoredCheckpoint:
    """The stored checkpoint of one stage, as the attempt with a token takes it and puts its own in its place.

    `stopped` tells that a transfer is to end halfway, by StoppedError. Every method raises InfrastructureError where
    the store fails.
    """

    def __init__(
        self, store: ObjectStore, run: Run, stage: str, token: int, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._store = store
        self._run, self._stage, self._token = run.folder.name, stage, token
        self._folder = run.folder / stage
        self._metrics = run.metrics(stage)
        self._stopped = stopped
        self._prefix = _prefix(self._run, stage)
        self.log = _log.bind(run=self._run, stage=stage, attempt=token)

    def take(self) -> int:
        """Keep the attempts before this one from writing, and have the stored checkpoint here, for training to find.

        Gives its step, 0 where none is stored; where one as new is here already, that stays. Raises InfrastructureError
        where it is damaged or the disk refuses, LeaseLostError where a later attempt has begun.
        """
        stands = self._write(lambda found: found.model_copy(update={"token": self._token}))
        if stands.folder and stands.step > self._own_step():
            self._fetch(stands)
            self.log.info("a stored checkpoint is gone on with", step=stands.step)
        return stands.step

    def newest_after(self, step: int) -> Path | None:
        """The newest checkpoint here that was written to its end, once what was logged up to it is here as well."""
        found = next(iter(checkpoints.marked(self._checkpoints)), None)
        if found is None or checkpoints.step_of(found) <= step:
            return None
        return found if _last_step(self._logged()) >= checkpoints.step_of(found) else None

    def put(self, checkpoint: Path) -> None:
        """Store a checkpoint with what another machine needs beside it, and remove the one before once it stands.

        Raises FileNotFoundError where it is gone meanwhile, InfrastructureError where it is damaged, LeaseLostError
        where a later attempt has begun or the stage has ended.
        """
        step = checkpoints.step_of(checkpoint)
        folder = f"{self._token}-{step}"
        files: dict[str, str] = {}
        for name, body in ((JOB, (self._folder / JOB).read_bytes()), (self._metrics.name, self._logged())):
            self._store.put(self._key(folder, name), body)
            files[name] = hashlib.sha256(body).hexdigest()
        for name, digest in checkpoints.digests(checkpoint).items():
            path = checkpoint / name
            with path.open("rb") as stream:
                reading = _Reading(stream, self._stopped)
                self._store.put(self._key(folder, f"{checkpoint.name}/{name}"), reading)
            if reading.digest != digest:
                raise InfrastructureError(f"{path} is damaged")
            files[f"{checkpoint.name}/{name}"] = digest
        self._write(lambda _: _Manifest(token=self._token, step=step, folder=folder, files=files))
        if read_artifacts(self._store, self._run, self._stage) is not None:
            # The attempt that ended it has removed all that there was before.
            remove_checkpoint(self._store, self._run, self._stage)
            raise LeaseLostError(f"run {self._run}, stage {self._stage}: another attempt has ended it")
        self._remove_others(folder)
        self.log.info("a checkpoint is stored", step=step)

    def _write(self, change: Callable[[_Manifest], _Manifest]) -> _Manifest:
        """Put what `change` makes of the manifest in its place, while no later attempt's stands there."""
        key = self._key(MANIFEST)
        for _ in range(_TRIES):
            found, etag = self._read(key)
            if found.token > self._token:
                raise LeaseLostError(
                    f"run {self._run}, stage {self._stage}: attempt {found.token} has begun after {self._token}"
                )
            made = change(found)
            if made == found:
                return made
            if self._stopped():
                raise StoppedError
            body = made.model_dump_json(indent=2).encode()
            try:
                if etag is None:
                    self._store.create(key, body)
                else:
                    self._store.replace(key, body, etag)
            except ConflictError:
                continue
            return made
        raise InfrastructureError(f"{key} was changed by others {_TRIES} times meanwhile")

    def _read(self, key: str) -> tuple[_Manifest, str | None]:
        try:
            found = self._store.get(key, max_bytes=_MAX_MANIFEST_BYTES)
        except NotFoundError:
            return _Manifest(), None
        try:
            return _Manifest.model_validate_json(found.body), found.etag
        except ValidationError:
            self.log.warning("a stored checkpoint is passed over", reason=f"{key} is damaged in the object store")
            return _Manifest(), found.etag

    def _own_step(self) -> int:
        """The step of the newest whole checkpoint here, 0 where there is none; training itself tells of damage."""
        if not (self._folder / JOB).is_file():
            return 0
        own = checkpoints.newest(self._checkpoints, lambda _: None)
        return checkpoints.step_of(own) if own else 0

    def _fetch(self, stands: _Manifest) -> None:
        """Put the stored checkpoint in its place, with the job that it is of and what was logged up to it."""
        name = f"checkpoint-{stands.step}"
        # Hidden, and in a folder that goes when the stage ends.
        partial = self._checkpoints / ".fetched"
        with writing(partial):
            shutil.rmtree(partial, ignore_errors=True)
            try:
                for file, digest in stands.files.items():
                    if self._stopped():
                        raise StoppedError
                    fetch_file(self._store, self._key(stands.folder, file), partial / file, digest)
                for file in (JOB, self._metrics.name):
                    (partial / file).replace(self._folder / file)
                shutil.rmtree(self._checkpoints / name, ignore_errors=True)
                (partial / name).rename(self._checkpoints / name)
            finally:
                shutil.rmtree(partial, ignore_errors=True)

    def _remove_others(self, folder: str) -> None:
        """Remove what this attempt and those before it have stored, but for `folder`."""
        for key in list(self._store.list(self._prefix)):
            other = key.removeprefix(self._prefix).partition("/")[0]
            token = other.partition("-")[0]
            if other != folder and token.isdecimal() and int(token) <= self._token:
                self._store.delete(key)

    def _logged(self) -> bytes:
        """The whole lines of what the trainer has logged."""
        body = self._metrics.read_bytes() if self._metrics.is_file() else b""
        return body[: body.rfind(b"\n") + 1]

    @property
    def _checkpoints(self) -> Path:
        return self._folder / "checkpoints"

    def _key(self, *names: str) -> str:
        return self._prefix + "/".join(names)


class _Reading:
    """A file as the store reads it: digested on the way, and ended by StoppedError where it is to stop."""

    def __init__(self, stream: BinaryIO, stopped: Callable[[], bool]) -> None:
        self._stream = stream
        self._stopped = stopped
        self._hash = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        if self._stopped():
            raise StoppedError
        chunk = self._stream.read(size)
        self._hash.update(chunk)
        return chunk

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, RlGymError) else f"{type(error).__name__}: {error}"


def _last_step(rows: bytes) -> int:
    try:
        return int(json.loads(rows.splitlines()[-1])["step"])
    except (IndexError, KeyError, ValueError, TypeError):
        return 0


def _prefix(run: str, stage: str) -> str:
    return f"runs/{run}/{stage}/checkpoint/"
