"""promote: the candidate takes the incumbent's place, where the gate says so and nobody else took it meanwhile.

What is promoted is a pointer in the object store, moved by compare-and-swap against the model that the run was judged
against: a verdict says nothing about any other.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rl_gym.gym.files import read_document, replace_text
from rl_gym.infra.errors import ConflictError, NotFoundError, UsageError
from rl_gym.infra.extras import extra
from rl_gym.serving.weights import find_model
from rl_gym.training.chain import candidate, maker
from rl_gym.training.incumbent import judged_against, root_name
from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.stages.evaluate import model_before, model_of
from rl_gym.wire.message import as_name

if TYPE_CHECKING:
    from rl_gym.infra.object_store import ObjectStore
    from rl_gym.infra.signing import KeyRing, SigningKey
    from rl_gym.wire.model import PromotedPointer

__all__ = ["Promotion", "promote", "read_promotion"]

_FILE = "promotion.json"
_NAME_CHARACTERS = 100
_SHORT = 12


@dataclass(frozen=True, slots=True)
class Promotion:
    """What became of a verdict: whether the pointer moved, why or why not, and the pointer where it did.

    `incumbent` is the digest of the model that the candidate was judged against.
    """

    decision: str
    moved: bool
    reason: str
    pointer: dict[str, Any] | None
    incumbent: str

    @property
    def said(self) -> str:
        """The reason, for somebody who has just read the gate's."""
        return self.reason if self.decision == "PROMOTE" else f"the incumbent stays: the gate says {self.decision}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "moved": self.moved,
            "reason": self.reason,
            "pointer": self.pointer,
            "incumbent": self.incumbent,
        }


def promote(run: Run, means: Means, progress: Progress) -> None:
    """Act on the gate's verdict, and leave what became of it: `promotion.json`.

    An attempt that was killed once the pointer had moved finds its own pointer. That another model was promoted
    meanwhile is no failure: the incumbent that serves stays, and the reason is kept.
    """
    progress.update("promote", 0, 1)
    verdict = read_document(run.folder / "gate" / "verdict.json")
    incumbent = judged_against(run, str(verdict["incumbent"]["model"]))
    made = _promotion(run, means, verdict, incumbent)
    replace_text(run.stage("promote") / _FILE, json.dumps(made.to_dict(), indent=2) + "\n")
    progress.say(f"promote: {made.said}")


def read_promotion(run: Run) -> Promotion:
    """What the stage `promote` of a run left; NotFoundError or UsageError, in one line, where that is nothing."""
    path = run.folder / "promote" / _FILE
    try:
        return Promotion(**read_document(path))
    except NotFoundError:
        raise NotFoundError(f"{path}: stage 'promote' left nothing there") from None
    except (UsageError, TypeError) as error:
        raise UsageError(f"{path} is damaged: {error}") from None


def _promotion(run: Run, means: Means, verdict: dict[str, Any], incumbent: str) -> Promotion:
    decision = str(verdict["decision"])

    def stays(reason: str) -> Promotion:
        return Promotion(decision, False, reason, None, incumbent)

    if decision != "PROMOTE":
        why = "; ".join(map(str, verdict["reasons"])) or "no reason was stored"
        return stays(f"the incumbent stays: the gate says {decision}: {why}")
    if means.store is None:
        return stays("nothing was promoted: there is no object store here, name one by RL_GYM_OBJECTS")
    if means.promotion_key is None:
        return stays(
            "nothing was promoted: there is no key to sign with, make one by `rl-gym keys new FILE` and name it by "
            "RL_GYM_PROMOTION_KEY"
        )
    with extra("services"):
        from rl_gym.infra.signing import KeyRing

    keys = means.promotion_keys or KeyRing((means.promotion_key.public,))
    try:
        pointer = _move(run, means.store, means.promotion_key, keys, str(verdict["digest"]), incumbent)
    except _StaysError as error:
        return stays(str(error))
    reason = f"promoted: {pointer.model} serves in the place of {incumbent[:_SHORT]}, as promotion {pointer.number}"
    return Promotion(decision, True, reason, pointer.model_dump(mode="json"), incumbent)


class _StaysError(Exception):
    """Why the incumbent stays in spite of the verdict."""


def _move(
    run: Run, store: ObjectStore, key: SigningKey, keys: KeyRing, verdict: str, incumbent: str
) -> PromotedPointer:
    """Publish the candidate and point to it; raises _StaysError where something else serves than it was judged by."""
    from rl_gym.serving.adapters import publish
    from rl_gym.serving.promotion import promote as point
    from rl_gym.serving.promotion import promoted

    digest = publish(store, _servable(run))
    named = as_name(run.folder.name, _NAME_CHARACTERS, empty="run")
    for _ in range(2):
        now = promoted(store, keys)
        if now is not None and (now.pointer.run, now.pointer.adapter_digest) == (named, digest):
            return now.pointer
        if now is not None and now.pointer.adapter_digest != incumbent:
            raise _StaysError(_other(run, now.pointer.model, incumbent))
        try:
            return point(
                store,
                key,
                now,
                model=f"{named}/{maker(candidate(run.stages), run.stages)}",
                base=root_name(run.config),
                adapter_digest=digest,
                run=named,
                verdict=verdict,
            )
        except ConflictError:
            # Somebody was quicker: another attempt of this very stage, or another run.
            continue
    raise _StaysError("the incumbent stays: another model was promoted at the same moment; run it again")


def _other(run: Run, serving: str, incumbent: str) -> str:
    against = f"the incumbent stays: {serving} is promoted, and this run was judged against {incumbent[:_SHORT]}"
    if run.config.mode == "flywheel":
        return f"{against}: another was promoted meanwhile, run the flywheel again"
    return f"{against}: train from what is promoted by --mode flywheel"


def _servable(run: Run) -> Path:
    """The folder that a server loads: the adapter alone where it lies over the base that serves, else all weights."""
    policy = candidate(run.stages)
    stage = maker(policy, run.stages)
    assert stage, "what the gate judges was trained by a stage"
    adapter, before = run.folder / stage / "adapter", model_before(run, stage)
    if adapter.is_dir() and before == find_model(run.config.model.root or run.config.model.base):
        return adapter
    model = model_of(run, policy)
    if model != adapter:
        return model
    return _merged(run, before, adapter)


def _merged(run: Run, base: Path, adapter: Path) -> Path:
    """An adapter over another stage's model, in the weights of that: no server has the model that it lies over."""
    with extra("train"):
        from rl_gym.training.saving import merge

    output = run.stage("promote") / "model"
    # Of an attempt before, which may have ended in the midst of it.
    shutil.rmtree(output, ignore_errors=True)
    merge(base, adapter, output)
    return output
