"""Training for real beside its plan: what it takes of memory, and that `smol` learns here by LoRA on conversations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")

from bench.training_memory import measure
from rl_gym.infra.errors import NotFoundError
from rl_gym.serving.weights.packaged import smol_file
from rl_gym.training.files import read_rows

pytestmark = pytest.mark.slow


def test_micro_takes_about_what_is_estimated(tmp_path: Path) -> None:
    for stage, estimate, measured in measure("micro", [], tmp_path / "run", "evaluate"):
        assert 0.5 < measured / estimate < 1.5, stage


def test_smol_learns_to_answer_in_a_few_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        smol_file()
    except NotFoundError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("RL_GYM_WEIGHTS_CACHE", os.environ.get("RL_GYM_WEIGHTS_CACHE", str(tmp_path / "weights")))
    monkeypatch.setenv("RL_GYM_OBJECTS", str(tmp_path / "objects"))
    run = tmp_path / "run"
    changes = ["sft.steps=4", "sft.batch_size=4", "sft.gradient_accumulation=2", "sft.warmup_steps=0"]
    changes += ["episodes.sft=16", "episodes.grpo=4", "episodes.held_out=4"]
    [(_, estimate, measured)] = measure("smol", changes, run, "sft")
    assert 0.5 < measured / estimate < 1.5
    losses = [row["loss"] for row in read_rows(run / "sft" / "metrics.jsonl") if "loss" in row]
    assert len(losses) == 4
    assert min(losses[2:]) < min(losses[:2])
    assert (run / "sft" / "adapter" / "adapter_model.safetensors").is_file()
    assert "<|im_start|>" in (run / "sft" / "model" / "chat_template.jinja").read_text()
