"""Which model the incumbent of a run is: where it lies in the run folder, and by which digest it is known elsewhere.

A run of mode flywheel goes on from the promoted model, which `prepare` puts into the run folder, so that the stages
after it find it on whatever machine they run. In other modes the incumbent is the run's base, or its own SFT.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rl_gym.gym.files import read_document, replace_text
from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import UsageError
from rl_gym.infra.extras import extra
from rl_gym.serving.adapter_bases import check_base, is_adapter
from rl_gym.serving.adapters import fetch
from rl_gym.serving.weights import find_model, model_name
from rl_gym.training.config import Config
from rl_gym.training.files import writing
from rl_gym.training.means import Means
from rl_gym.training.run import Run
from rl_gym.wire.message import as_name

if TYPE_CHECKING:
    from rl_gym.infra.object_store import ObjectStore
    from rl_gym.wire.model import PromotedPointer

__all__ = [
    "Incumbent",
    "bring_incumbent",
    "incumbent_folder",
    "judged_against",
    "read_incumbent",
    "root_name",
    "write_incumbent",
]

_FOLDER, _DOCUMENT = "incumbent", "incumbent.json"


@dataclass(frozen=True, slots=True)
class Incumbent:
    """What `prepare` found. `digest` is the pointer's, or that of the base's weights where none is promoted.

    `number` is the promotion's, None for the base; `origin` says in words where the model comes from.
    """

    name: str
    digest: str
    number: int | None
    origin: str


def bring_incumbent(run: Run, means: Means) -> Incumbent:
    """Have the promoted model in the run folder, whole, and say which it is; the run's base where none is promoted.

    An adapter is written into the weights of the base that it lies over. Raises InfrastructureError for a pointer that
    nobody is believed about, and UsageError where it leads to a model of another root than this run's.
    """
    pointer = _pointer(means)
    if pointer is None:
        base = run.config.model.base
        why = "no model is promoted" if means.store is not None else "there is no object store here"
        found = Incumbent(model_name(base), tree_digest(find_model(base)), None, f"{why}: the base of the run, {base}")
    else:
        root = root_name(run.config)
        if pointer.base != root:
            raise UsageError(
                f"{pointer.model} is promoted, which is made of {pointer.base}, and this run trains {root}: "
                "name another by model.base or model.root"
            )
        assert means.store is not None
        _bring(run, means.store, pointer)
        origin = f"promotion {pointer.number} of run {pointer.run}"
        found = Incumbent(pointer.model, pointer.adapter_digest, pointer.number, origin)
    write_incumbent(run, found)
    return found


def root_name(config: Config) -> str:
    """What servers call the pretrained model under all that a run trains, as a pointer may name it."""
    return as_name(model_name(config.model.root or config.model.base))


def _pointer(means: Means) -> PromotedPointer | None:
    if means.store is None:
        return None
    with extra("services"):
        from rl_gym.infra.signing import KeyRing
        from rl_gym.serving.promotion import promoted

    own = (means.promotion_key.public,) if means.promotion_key else ()
    now = promoted(means.store, means.promotion_keys or KeyRing(own))
    return None if now is None else now.pointer


def _bring(run: Run, store: ObjectStore, pointer: PromotedPointer) -> None:
    target = run.stage("prepare") / _FOLDER
    shutil.rmtree(target, ignore_errors=True)
    with writing(target), tempfile.TemporaryDirectory(dir=run.folder, prefix=".incumbent") as scratch:
        fetched = fetch(store, pointer.adapter_digest, Path(scratch))
        if not is_adapter(fetched):
            fetched.rename(target)
            return
        base = find_model(run.config.model.root or run.config.model.base)
        check_base(fetched, tree_digest(base), str(base), pointer.base)
        with extra("train"):
            from rl_gym.training.saving import merge
        merge(base, fetched, target)


def write_incumbent(run: Run, found: Incumbent) -> None:
    """Keep beside the model what is known of it."""
    replace_text(run.folder / "prepare" / _DOCUMENT, json.dumps(asdict(found), indent=2) + "\n")


def read_incumbent(run: Run) -> Incumbent | None:
    """What `prepare` found; None where this run's incumbent is none of elsewhere. UsageError for a damaged note."""
    path = run.folder / "prepare" / _DOCUMENT
    if not path.exists():
        return None
    try:
        return Incumbent(**read_document(path))
    except (UsageError, TypeError) as error:
        raise UsageError(f"{path} is damaged: {error}") from None


def incumbent_folder(run: Run) -> Path | None:
    """The folder of the model that `prepare` fetched, None where this run's incumbent is none of elsewhere."""
    folder = run.folder / "prepare" / _FOLDER
    return folder if folder.is_dir() else None


def judged_against(run: Run, model: str) -> str:
    """The digest by which a pointer would name the incumbent; `model` is that of the weights which were evaluated."""
    found = read_incumbent(run)
    return found.digest if found else model
