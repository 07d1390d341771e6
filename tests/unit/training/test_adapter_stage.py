"""A stage that kept its adapter alone: it is evaluated over the model before it, and over no other."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import UsageError
from rl_gym.serving.adapter_bases import name_base
from rl_gym.training.config import resolve
from rl_gym.training.run import Run
from rl_gym.training.stages.evaluate import missing_evaluations


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """SFT left a model, GRPO an adapter over it."""
    made = Run.create(tmp_path, resolve("micro", ["grpo.merge=false"]), now=datetime(2025, 1, 1), digests={})
    (made.stage("prepare") / "held_out.jsonl").write_text("")
    sft, adapter = made.stage("sft") / "model", made.stage("grpo") / "adapter"
    for folder in (sft, adapter):
        folder.mkdir()
    (sft / "config.json").write_text("{}")
    (adapter / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA"}))
    (adapter / "adapter_model.safetensors").write_bytes(b"")
    name_base(adapter, "sft/model", tree_digest(sft))
    return made


def test_the_job_names_adapter_and_base(run: Run) -> None:
    [(_, job)] = missing_evaluations(run, ["grpo"])
    adapter = run.folder / "grpo" / "adapter"
    assert (job["model"], job["base"]) == (str(adapter), str(run.folder / "sft" / "model"))
    assert job["inputs"]["model"] == tree_digest(adapter)


def test_an_adapter_over_another_base_is_refused_before_any_compute(run: Run) -> None:
    (run.folder / "sft" / "model" / "config.json").write_text("{ }")
    with pytest.raises(UsageError, match=r"the adapter in .* is over sft/model of digest \w{12}, and not over"):
        missing_evaluations(run, ["grpo"])
