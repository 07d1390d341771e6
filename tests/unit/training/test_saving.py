"""What a training leaves: an adapter that says what it is over, the merged model, tokenizers; and all of it loads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft")

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from rl_gym.infra.digests import file_digest, tree_digest
from rl_gym.infra.errors import InfrastructureError
from rl_gym.serving.local_model import LocalModel
from rl_gym.serving.sampling import Sampling
from rl_gym.serving.weights import find_model
from rl_gym.training.config import resolve
from rl_gym.training.saving import base_name, check_written, merge, save

BASE = find_model("nano-base")


def trained() -> tuple[Any, Any]:
    """The packaged base with an adapter that changes what it says, and its tokenizer."""
    torch.manual_seed(0)
    network = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32, local_files_only=True)
    model = get_peft_model(network, LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"))
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "lora_B" in name:
                weights.normal_(std=0.2)
    return model, AutoTokenizer.from_pretrained(BASE, local_files_only=True)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stage")
    save(*trained(), folder, base=("nano-base", tree_digest(BASE)))
    return folder


def test_an_adapter_says_what_it_is_over_and_nothing_of_this_machine(output: Path) -> None:
    adapter = output / "adapter"
    assert json.loads((adapter / "adapter_config.json").read_text())["base_model_name_or_path"] == "nano-base"
    assert json.loads((adapter / "base.json").read_text()) == {"name": "nano-base", "digest": tree_digest(BASE)}
    assert not [path.name for path in adapter.iterdir() if str(BASE).encode() in path.read_bytes()]


def test_the_tokenizer_lies_beside_both(output: Path) -> None:
    ids = {
        tuple(AutoTokenizer.from_pretrained(folder, local_files_only=True)("a bucket").input_ids)
        for folder in (BASE, output / "adapter", output / "model")
    }
    assert len(ids) == 1


def test_the_adapter_alone_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    save(*trained(), tmp_path, base=("nano-base", tree_digest(BASE)), merge=False)
    assert [path.name for path in tmp_path.iterdir()] == ["adapter"]


def test_base_and_adapter_are_the_merged_model(output: Path, tmp_path: Path) -> None:
    digest = merge(BASE, output / "adapter", tmp_path / "model")
    assert digest == tree_digest(tmp_path / "model")
    assert file_digest(tmp_path / "model" / "model.safetensors") == file_digest(output / "model" / "model.safetensors")
    how = Sampling(n=1, max_tokens=24, greedy=True, seed=0)
    said = [
        model.complete(["Create an S3 bucket"], how)[0][0].text
        for model in (LocalModel(output / "model"), LocalModel(BASE, adapter=output / "adapter"), LocalModel(BASE))
    ]
    assert said[0] == said[1] != said[2]


@pytest.mark.parametrize("part", ["model", "adapter"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: cut(next(folder.glob("*.safetensors"))),
        lambda folder: next(folder.glob("*.safetensors")).unlink(),
        lambda folder: (folder / "tokenizer.json").write_text("{"),
        lambda folder: next(folder.glob("*config.json")).write_text("{"),
    ],
)
def test_what_does_not_load_is_told_in_one_line(
    output: Path, tmp_path: Path, part: str, damage: Callable[[Path], object]
) -> None:
    folder = tmp_path / part
    shutil.copytree(output / part, folder, ignore=shutil.ignore_patterns("generation_config.json"))
    check_written(folder)
    damage(folder)
    with pytest.raises(InfrastructureError, match=f"what was written to {folder} does not load: ") as raised:
        check_written(folder)
    assert "\n" not in str(raised.value)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def test_a_base_is_called_as_the_run_calls_it() -> None:
    config = resolve("micro", ["model.base=hub:org/name@main"])
    job = {"model": "/cache/abc", "output": "/runs/a/sft", "inputs": {"model": "d" * 64}}
    assert base_name(job, config) == ("org/name", "d" * 64)
    assert base_name({**job, "model": "/runs/a/sft/model", "output": "/runs/a/grpo"}, config)[0] == "a/sft/model"
