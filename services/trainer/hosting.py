"""The stages of `rl_gym.training` as work for a worker: files come from the object store, and go there.

A worker's disk is a scratch of its own, below the folder of runs: what stands there already is used, what is missing is
fetched, and what a stage made counts once its manifest is in the store.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from datetime import datetime
from functools import partial

import structlog

from rl_gym import __version__
from rl_gym.gym.files import read_document
from rl_gym.infra.digests import file_digest, tree_digest
from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, UsageError
from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.training.chain import trainers
from rl_gym.training.config import Config, parse
from rl_gym.training.incumbent import read_incumbent
from rl_gym.training.means import Means
from rl_gym.training.plan import make_plan, require_ready
from rl_gym.training.rewards import verifier_job
from rl_gym.training.run import DOCUMENT, MANIFEST, Run
from rl_gym.training.stages import STAGES, perform_stage, start
from rl_gym.training.stages.jobs import JOB, environment
from rl_gym.wire.message import as_name
from rl_gym.wire.model import Model
from services.trainer.artifacts import Artifacts, fetch_stage, read_artifacts, store_stage
from services.trainer.checkpoint_store import keeping_checkpoint, remove_checkpoint
from services.trainer.one_training import alone_on_machine
from services.trainer.scratch import mark
from services.trainer.settings import TrainerSettings
from services.trainer.stage_log import kept_log
from services.trainer.work import Stage, StoppedError, Work

__all__ = ["hosted_stages"]

_log = structlog.get_logger("stages")

_MAX_DOCUMENT_BYTES = 1 << 20


def hosted_stages(settings: TrainerSettings) -> Mapping[str, Stage]:
    """Every stage by its name, as a worker with these settings does it."""
    return {name: partial(_perform, settings, name) for name in STAGES}


def _perform(settings: TrainerSettings, name: str, work: Work) -> str:
    """Do a stage of a run, or find that it is done; the digest of its manifest.

    What no attempt will need again is removed from this disk: all of the run after its last stage, or once cancelled.
    """
    store = open_store(settings.objects)
    run = _folder(settings, store, work)
    mark(run.folder)
    try:
        digest = _ended(settings, store, run, name, work)
    except StoppedError:
        if work.reason == "cancelled":
            remove_checkpoint(store, run.folder.name, name)
            _remove(run)
        raise
    if name == run.stages[-1]:
        _remove(run)
    return digest


def _ended(settings: TrainerSettings, store: ObjectStore, run: Run, name: str, work: Work) -> str:
    found = read_artifacts(store, run.folder.name, name)
    if found is None:
        with alone_on_machine(settings, work), run.lock():
            for before in run.stages[: run.stages.index(name)]:
                work.check()
                _fetch(store, run, before)
            _clean(run, name)
            with keeping_checkpoint(store, run, name, work), kept_log(store, run, name, work):
                perform_stage(run, name, _means(settings, store), _Told(work))
            work.check()
            found = store_stage(store, run.folder.name, run.folder / name)
            # Another attempt may have been first; then its files are the ones that count.
            fetch_stage(store, run.folder.name, found, run.folder / name)
    if name in trainers(run.stages):
        remove_checkpoint(store, run.folder.name, name)
        _tell_model(store, run, name, work)
    return found.digest


def _remove(run: Run) -> None:
    shutil.rmtree(run.folder, ignore_errors=True)


def _folder(settings: TrainerSettings, store: ObjectStore, work: Work) -> Run:
    """The run's folder on this disk, by the document that is stored; where none is, this attempt stores its own.

    Raises UsageError for a run that is new here and that this machine cannot do: whoever took it cannot have known.
    """
    folder = settings.runs.absolute() / work.run.id
    path, key = folder / DOCUMENT, f"runs/{work.run.id}/{DOCUMENT}"
    if not path.exists():
        require_ready(make_plan(_config(work)))
    try:
        body = store.get(key, max_bytes=_MAX_DOCUMENT_BYTES).body
    except NotFoundError:
        # Begun here by an attempt that was cut off before it had stored this, or now.
        run = Run.open(folder) if path.exists() else start(_config(work), folder, now=_naive(work.run.created))
        try:
            store.create(key, path.read_bytes())
        except ConflictError:
            return _folder(settings, store, work)
        return run
    return Run.open(folder) if path.exists() and path.read_bytes() == body else Run.restore(folder, body)


def _config(work: Work) -> Config:
    return parse(work.config, f"run {work.run.id}")


def _naive(moment: datetime) -> datetime:
    return moment.replace(tzinfo=None)


def _fetch(store: ObjectStore, run: Run, stage: str) -> None:
    """Have an earlier stage's files here as they are stored."""
    found = read_artifacts(store, run.folder.name, stage)
    if found is None:
        raise InfrastructureError(f"run {run.folder.name}: what stage {stage} made is no more in the object store")
    if not _is_here(run, stage, found):
        fetch_stage(store, run.folder.name, found, run.folder / stage)


def _is_here(run: Run, stage: str, found: Artifacts) -> bool:
    folder = run.folder / stage
    manifest = folder / MANIFEST
    # It comes last where a stage is fetched, and the stage after it names its digest.
    return (manifest.is_file() and manifest.read_bytes() == found.body) and all(
        (folder / name).is_file() and file_digest(folder / name) == digest for name, digest in found.files.items()
    )


def _clean(run: Run, stage: str) -> None:
    """Drop what an attempt that was cut off left of a stage and nobody can go on with."""
    folder = run.folder / stage
    for path in [path for path in folder.rglob(".*.partial") if path.is_file()]:
        path.unlink(missing_ok=True)
    try:
        run.stands(stage)
    except UsageError as error:
        # A machine that lost its power may keep the manifest and lose a file; this disk holds nothing of a user's own.
        _log.warning("what is left of a stage is damaged: it is done again", reason=str(error))
        run.clear(stage)


def _means(settings: TrainerSettings, store: ObjectStore) -> Means:
    return Means(
        verifier=verifier_job(settings.verifier, settings.signing_key) if settings.verifier else None,
        policy=settings.policy,
        signing_key=settings.signing_key,
        store=store,
        promotion_key=SigningKey.load(settings.promotion_key) if settings.promotion_key else None,
        promotion_keys=KeyRing.load(settings.promotion_keys),
    )


def _tell_model(store: ObjectStore, run: Run, stage: str, work: Work) -> None:
    """Store what is known of a model, before anything judges it."""
    _fetch(store, run, stage)
    folder = run.folder / stage
    weights = folder / "adapter" if (folder / "adapter").is_dir() else folder / "model"
    work.add_model(
        Model(
            name=_model(run.folder.name, stage),
            base=as_name(run.config.model.base),
            base_digest=read_document(run.folder / DOCUMENT)["digests"]["base"],
            parent=_parent(run, stage),
            adapter_digest=tree_digest(weights),
            data_digest=read_document(folder / JOB)["inputs"]["data"],
            ruleset_digest=environment(run.config).reward.digest,
            code_version=__version__,
            run=run.folder.name,
            created=work.run.created,
        )
    )


def _model(run: str, stage: str) -> str:
    """What the model is called that a stage of a run made."""
    return f"{run}-{stage}"


def _parent(run: Run, stage: str) -> str | None:
    """The model that a stage trained from: an earlier stage's, else what was promoted; None for the base."""
    before = trainers(run.stages[: run.stages.index(stage)])
    if before:
        return _model(run.folder.name, before[-1])
    found = read_incumbent(run)
    if found is None or found.number is None:
        return None
    # Promoted as RUN/STAGE.
    promoted_by, _, made_by = found.name.rpartition("/")
    return _model(promoted_by, made_by) if promoted_by else found.name


class _Told:
    """Tells a run's progress to its work, and stops it where that is to stop."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._job = ""
        self._begun = 0.0
        self._first = 0.0
        self._reward: float | None = None

    def update(self, job: str, done: float, total: float) -> None:
        self._work.check()
        if job.split()[0] != self._work.lease.stage:
            # A model that is evaluated beside a stage that trains is not how far that is.
            return
        now = time.monotonic()
        if job != self._job:
            self._job, self._begun, self._first = job, now, done
            self._reward = None
        passed = done - self._first
        left = (now - self._begun) / passed * (total - done) if passed > 0 else None
        self._work.progress(int(done), max(int(total), 1), self._reward, left)

    def measured(self, job: str, step: int, values: Mapping[str, float]) -> None:
        self._work.check()
        self._reward = values.get("reward", self._reward)

    def finish(self, job: str) -> None:
        self._work.check()

    def say(self, text: str) -> None:
        _log.info("a stage says", run=self._work.run.id, stage=self._work.lease.stage, said=text)

    def check(self) -> None:
        self._work.check()
