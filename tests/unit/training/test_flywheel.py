"""A flywheel on preset micro: the incumbent is what is promoted, and the run ends with a decision that nobody made."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

pytest.importorskip("transformers", reason="the extra serve is not installed")
pytest.importorskip("cryptography", reason="the extra services is not installed")
pytest.importorskip("peft", reason="the extra train is not installed")
pytest.importorskip("datasketch")

from rl_gym.gym import records
from rl_gym.iac.tasks.parametric import nano_episode
from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.infra.folder_store import FolderStore
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.serving.adapter_bases import name_base
from rl_gym.serving.adapters import publish
from rl_gym.serving.causal import CausalModel
from rl_gym.serving.promotion import promote
from rl_gym.serving.weights import find_model
from rl_gym.training.config import resolve
from rl_gym.training.incumbent import Incumbent, bring_incumbent, incumbent_folder, read_incumbent
from rl_gym.training.means import Means
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages import efforts, execute, start
from rl_gym.training.stages.evaluate import model_before, model_of
from rl_gym.training.stages.promote import read_promotion
from rl_gym.wire.traffic import MixRow

KEY = SigningKey.generate()
RING = KeyRing((KEY.public,))


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "objects")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    changes = [f"flywheel.traffic={tmp_path / 'mix.jsonl'}", "episodes.held_out=4", "evaluate.samples=1"]
    lines = []
    for episode in map(nano_episode, range(950_000, 950_012)):
        asked = {"request": episode.request, "required": episode.data["required"], "episode": episode.id}
        lines.append(MixRow.model_validate({"environment": "iac", "count": 1, "sources": {"model": 1}, **asked}))
    (tmp_path / "mix.jsonl").write_text("".join(line.model_dump_json() + "\n" for line in lines))
    return start(resolve("micro", changes, mode="flywheel"), tmp_path / "run", now=datetime(2025, 1, 1))


def lent(store: FolderStore) -> Means:
    return Means(store=store, promotion_key=KEY, promotion_keys=RING)


def point_to(store: FolderStore, folder: Path, base: str = "nano-base") -> str:
    digest = publish(store, folder)
    where = {"model": "first", "base": base, "adapter_digest": digest, "run": "first", "verdict": "e" * 64}
    promote(store, KEY, None, **where)
    return digest


def test_the_whole_run_goes_on_from_what_is_promoted(run: Run, store: FolderStore) -> None:
    digest = point_to(store, find_model("nano"))
    with RunProgress(Console(quiet=True), efforts(run.config)) as progress:
        execute(run, progress, lent(store))
    kept = run.folder / "prepare" / "incumbent"
    assert tree_digest(kept) == digest
    assert model_of(run, "incumbent") == model_before(run, "update") == kept
    assert json.loads((run.folder / "update" / "job.json").read_text())["inputs"]["model"] == digest
    found = records.read(run.folder / "evaluate" / "completions.jsonl")
    assert list(dict.fromkeys(one.policy for one in found)) == ["random", "incumbent", "candidate", "oracle"]
    assert {one.model for one in found if one.policy == "incumbent"} == {digest}
    made = read_promotion(run)
    assert (made.incumbent, made.moved) == (digest, made.decision == "PROMOTE")
    assert run.stands("promote")


def test_an_adapter_that_is_promoted_is_brought_as_a_model(run: Run, store: FolderStore, tmp_path: Path) -> None:
    import peft

    base, adapter = find_model("nano-base"), tmp_path / "adapter"
    config = peft.LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM", init_lora_weights=False)
    peft.get_peft_model(CausalModel(base).network, config).save_pretrained(adapter)
    (adapter / "README.md").unlink(missing_ok=True)
    name_base(adapter, "nano-base", tree_digest(base))
    digest = point_to(store, adapter)
    found = bring_incumbent(run, lent(store))
    assert found == read_incumbent(run) == Incumbent("first", digest, 0, "promotion 0 of run first")
    kept = incumbent_folder(run)
    assert kept is not None
    assert tree_digest(kept) not in (digest, tree_digest(base))
    assert (kept / "model.safetensors").is_file()


def test_where_none_is_promoted_the_base_is_the_incumbent(run: Run, store: FolderStore) -> None:
    for means, why in ((lent(store), "no model is promoted"), (Means(), "there is no object store here")):
        found = bring_incumbent(run, means)
        assert found == Incumbent("nano", tree_digest(find_model("nano")), None, f"{why}: the base of the run, nano")
        assert incumbent_folder(run) is None
        assert model_of(run, "incumbent") == find_model("nano")


def test_a_model_of_another_root_is_refused(run: Run, store: FolderStore) -> None:
    point_to(store, find_model("nano"), base="smol")
    with pytest.raises(UsageError, match=r"first is promoted, which is made of smol, and this run trains nano-base: "):
        bring_incumbent(run, lent(store))


def test_a_pointer_that_nobody_is_believed_about_stops_the_run(run: Run, store: FolderStore) -> None:
    point_to(store, find_model("nano"))
    with pytest.raises(InfrastructureError, match="RL_GYM_PROMOTION_KEYS"):
        bring_incumbent(run, Means(store=store))
