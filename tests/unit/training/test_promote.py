"""promote: the pointer moves once, to the candidate, and only from the model that the run was judged against."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

pytest.importorskip("transformers", reason="the extra serve is not installed")
pytest.importorskip("cryptography", reason="the extra services is not installed")
pytest.importorskip("peft", reason="the extra train is not installed")

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import ConflictError, InfrastructureError, UsageError
from rl_gym.infra.folder_store import FolderStore
from rl_gym.infra.object_store import Source
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.serving.adapters import fetch, publish
from rl_gym.serving.causal import CausalModel
from rl_gym.serving.promotion import Promoted, promoted
from rl_gym.serving.promotion import promote as point
from rl_gym.serving.weights import find_model
from rl_gym.training.config import resolve
from rl_gym.training.incumbent import Incumbent, write_incumbent
from rl_gym.training.means import Means
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages.promote import Promotion, promote, read_promotion
from rl_gym.wire.run import RunMode

KEY = SigningKey.generate()
RING = KeyRing((KEY.public,))
SFT = "5" * 64


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "objects")


def judged(folder: Path, decision: str = "PROMOTE", *, mode: RunMode = "pipeline", against: str = SFT) -> Run:
    """A run that the gate has judged, whose candidate is the packaged model."""
    run = Run.create(
        folder,
        resolve("micro", ["flywheel.traffic=mix", "model.base=nano-base"], mode=mode),
        now=datetime(2025, 1, 1),
        digests={},
    )
    stage = "grpo" if mode == "pipeline" else "update"
    shutil.copytree(find_model("nano"), run.stage(stage) / "model")
    verdict = {
        "decision": decision,
        "reasons": ["reward is worse than the tolerance"] if decision != "PROMOTE" else [],
        "incumbent": {"model": against},
        "digest": "d" * 64,
    }
    (run.stage("gate") / "verdict.json").write_text(json.dumps(verdict))
    run.stage("promote")
    return run


def perform(run: Run, means: Means) -> Promotion:
    with RunProgress(Console(quiet=True), {}) as progress:
        promote(run, means, progress)
    return read_promotion(run)


def lent(store: FolderStore) -> Means:
    return Means(store=store, promotion_key=KEY, promotion_keys=RING)


def serving(store: FolderStore) -> Promoted:
    now = promoted(store, RING)
    assert now is not None
    return now


def point_to(store: FolderStore, digest: str, run: str = "another") -> None:
    where = {"model": "another", "base": "nano-base", "adapter_digest": digest, "run": run, "verdict": "e" * 64}
    point(store, KEY, promoted(store, RING), **where)


def test_the_candidate_is_stored_and_pointed_to(tmp_path: Path, store: FolderStore) -> None:
    run = judged(tmp_path / "micro-seed0")
    made = perform(run, lent(store))
    pointer = serving(store).pointer
    assert made == Promotion("PROMOTE", True, made.reason, pointer.model_dump(mode="json"), SFT)
    assert (pointer.number, pointer.run, pointer.model) == (0, "micro-seed0", "micro-seed0/grpo")
    assert (pointer.base, pointer.verdict) == ("nano-base", "d" * 64)
    assert pointer.adapter_digest == tree_digest(run.folder / "grpo" / "model")
    assert fetch(store, pointer.adapter_digest, tmp_path / "cache").is_dir()


@pytest.mark.parametrize("decision", ["BLOCK", "UNDECIDED"])
def test_otherwise_the_incumbent_stays_and_the_reason_is_kept(
    tmp_path: Path, store: FolderStore, decision: str
) -> None:
    made = perform(judged(tmp_path / "run", decision), lent(store))
    assert (made.moved, made.pointer) == (False, None)
    assert made.reason == f"the incumbent stays: the gate says {decision}: reward is worse than the tolerance"
    assert list(store.list()) == []


def test_an_attempt_that_was_killed_once_the_pointer_moved_finds_its_own(tmp_path: Path, store: FolderStore) -> None:
    class Forgetful(FolderStore):
        """Writes the pointer, and dies before it can say so."""

        def create(self, key: str, body: bytes | Source) -> str:
            super().create(key, body)
            raise InfrastructureError("killed")

    run = judged(tmp_path / "run")
    with pytest.raises(InfrastructureError, match="killed"):
        perform(run, lent(Forgetful(tmp_path / "objects")))
    with pytest.raises(UsageError, match="left nothing there"):
        read_promotion(run)
    first = serving(store)
    made = perform(run, lent(store))
    assert made.moved
    assert serving(store) == first
    assert first.pointer.number == 0


def test_what_serves_and_was_judged_against_makes_place(tmp_path: Path, store: FolderStore) -> None:
    point_to(store, SFT)
    made = perform(judged(tmp_path / "run"), lent(store))
    assert made.moved
    assert serving(store).pointer.number == 1


def test_a_pipeline_does_not_take_the_place_of_what_it_was_not_judged_against(
    tmp_path: Path, store: FolderStore
) -> None:
    point_to(store, "7" * 64)
    made = perform(judged(tmp_path / "run"), lent(store))
    assert not made.moved
    assert "another is promoted, and this run was judged against 555555555555" in made.reason
    assert "train from what is promoted by --mode flywheel" in made.reason
    assert serving(store).pointer.number == 0


def test_another_that_was_promoted_meanwhile_is_no_failure(tmp_path: Path, store: FolderStore) -> None:
    class Raced(FolderStore):
        """Another run is promoted in the moment before this one."""

        def replace(self, key: str, body: bytes | Source, etag: str) -> str:
            point_to(store, "8" * 64)
            return super().replace(key, body, etag)

    point_to(store, SFT)
    run = judged(tmp_path / "run", mode="flywheel", against="9" * 64)
    write_incumbent(run, Incumbent("another", SFT, 0, "promotion 0"))
    made = perform(run, lent(Raced(tmp_path / "objects")))
    assert (made.moved, made.incumbent) == (False, SFT)
    assert "another was promoted meanwhile, run the flywheel again" in made.reason
    assert serving(store).pointer.adapter_digest == "8" * 64


def test_a_flywheel_is_known_by_what_the_pointer_calls_its_incumbent(tmp_path: Path, store: FolderStore) -> None:
    """That was an adapter, and the weights that were judged are those of both together."""
    point_to(store, SFT)
    run = judged(tmp_path / "run", mode="flywheel", against="9" * 64)
    write_incumbent(run, Incumbent("another", SFT, 0, "promotion 0"))
    assert perform(run, lent(store)).moved


@pytest.mark.parametrize(
    ("means", "setting"),
    [
        (Means(promotion_key=KEY), "RL_GYM_OBJECTS"),
        (Means(store=FolderStore(Path("unused"))), "RL_GYM_PROMOTION_KEY"),
    ],
    ids=["no store", "no key"],
)
def test_what_is_missing_is_named(tmp_path: Path, means: Means, setting: str) -> None:
    made = perform(judged(tmp_path / "run"), means)
    assert not made.moved
    assert setting in made.reason


def test_a_pointer_that_nobody_signed_stops_the_stage(tmp_path: Path, store: FolderStore) -> None:
    point_to(store, SFT)
    means = Means(store=store, promotion_key=SigningKey.generate())
    with pytest.raises(InfrastructureError, match="signed by none of the keys"):
        perform(judged(tmp_path / "run"), means)


def adapter(folder: Path, over: Path) -> None:
    import peft

    config = peft.LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM", init_lora_weights=False)
    peft.get_peft_model(CausalModel(over).network, config).save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)


def test_an_adapter_over_the_base_is_stored_alone(tmp_path: Path, store: FolderStore) -> None:
    run = judged(tmp_path / "run", mode="drift")
    adapter(run.folder / "update" / "adapter", find_model("nano-base"))
    made = perform(run, lent(store))
    assert made.pointer is not None
    assert made.pointer["adapter_digest"] == tree_digest(run.folder / "update" / "adapter")


def test_an_adapter_over_another_stage_goes_with_its_weights(tmp_path: Path, store: FolderStore) -> None:
    """No server holds the model of a stage of ours."""
    run = judged(tmp_path / "run")
    shutil.move(run.folder / "grpo" / "model", run.stage("sft") / "model")
    adapter(run.folder / "grpo" / "adapter", run.folder / "sft" / "model")
    pointers = [perform(run, lent(store)).pointer for _ in range(2)]
    assert pointers[0] == pointers[1] is not None
    digest = serving(store).pointer.adapter_digest
    assert (fetch(store, digest, tmp_path / "cache") / "model.safetensors").is_file()
    assert digest not in (publish(store, run.folder / "sft" / "model"), publish(store, run.folder / "grpo" / "adapter"))


def test_a_damaged_note_is_one_line(tmp_path: Path) -> None:
    run = judged(tmp_path / "run")
    document: dict[str, Any] = {"decision": "PROMOTE"}
    (run.folder / "promote" / "promotion.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match=r"promotion\.json is damaged"):
        read_promotion(run)


def test_a_race_that_is_lost_twice_ends_in_a_reason(tmp_path: Path, store: FolderStore) -> None:
    class Never(FolderStore):
        def create(self, key: str, body: bytes | Source) -> str:
            raise ConflictError("somebody else")

    made = perform(judged(tmp_path / "run"), lent(Never(tmp_path / "objects")))
    assert not made.moved
    assert "at the same moment" in made.reason
