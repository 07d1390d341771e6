"""A model that a run promoted serves: the stage, the object store and a real policy service together."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

pytest.importorskip("transformers", reason="the extra serve is not installed")
pytest.importorskip("peft", reason="the extra train is not installed")

from rl_gym.infra.folder_store import FolderStore
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.serving.adapter_bases import name_base
from rl_gym.serving.causal import CausalModel
from rl_gym.serving.weights import find_model
from rl_gym.training.config import resolve
from rl_gym.training.means import Means
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages.promote import promote, read_promotion
from rl_gym.wire import CompleteRequest, SamplingBody
from rl_gym.wire.clients.policy import PolicyClient
from rl_gym.wire.run import RunMode
from tests.contract.processes import running


def judged(folder: Path, mode: RunMode, against: str) -> Run:
    run = Run.create(
        folder,
        resolve("micro", ["flywheel.traffic=mix", "model.base=nano-base"], mode=mode),
        now=datetime(2025, 1, 1),
        digests={},
    )
    verdict = {"decision": "PROMOTE", "reasons": [], "incumbent": {"model": against}, "digest": "d" * 64}
    (run.stage("gate") / "verdict.json").write_text(json.dumps(verdict))
    run.stage("promote")
    return run


def promoted_by(run: Run, means: Means) -> str:
    with RunProgress(Console(quiet=True), {}) as progress:
        promote(run, means, progress)
    made = read_promotion(run)
    assert made.pointer is not None, made.reason
    return str(made.pointer["adapter_digest"])


def test_what_a_run_promoted_serves_after_a_reload(verifier: str, tmp_path: Path) -> None:
    import peft

    key = SigningKey.generate()
    means = Means(store=FolderStore(tmp_path / "objects"), promotion_key=key, promotion_keys=KeyRing((key.public,)))
    settings = {
        "VERIFIER": verifier,
        "OBJECTS": str(tmp_path / "objects"),
        "ADAPTERS": str(tmp_path / "adapters"),
        "PROMOTION_KEYS": str(key.public),
        "PROMOTION_SECONDS": "3600",
        "MODEL": "nano-base",
    }
    with running("policy", settings) as address, PolicyClient(address) as client:
        asked = CompleteRequest(prompts=["Terraform:\n"], sampling=SamplingBody(greedy=True, max_tokens=16))
        before = client.complete(asked)
        assert before.model.adapter_digest is None

        whole = judged(tmp_path / "whole", "pipeline", "5" * 64)
        shutil.copytree(find_model("nano"), whole.stage("grpo") / "model")
        digest = promoted_by(whole, means)
        said = client.reload()
        assert (said.outcome, said.trouble, said.model.adapter_digest) == ("switched", "", digest)
        answer = client.complete(asked)
        assert answer.model.adapter_digest == digest
        assert answer.samples != before.samples

        small = judged(tmp_path / "small", "drift", digest)
        folder = small.stage("update") / "adapter"
        config = peft.LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM", init_lora_weights=False)
        peft.get_peft_model(CausalModel(find_model("nano-base")).network, config).save_pretrained(folder)
        name_base(folder, "nano-base", "b" * 64)
        (folder / "README.md").unlink(missing_ok=True)
        digest = promoted_by(small, means)
        said = client.reload()
        assert (said.outcome, said.trouble, said.model.adapter_digest) == ("switched", "", digest)
        assert client.complete(asked).model.adapter_digest == digest
