"""`rl-gym merge`: a model of a base and an adapter over it, and of no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("peft")

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from rl_gym.cli.main import main
from rl_gym.infra.digests import tree_digest
from rl_gym.serving.adapter_bases import name_base
from rl_gym.serving.weights import find_model

BASE = find_model("nano-base")


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adapter")
    network = AutoModelForCausalLM.from_pretrained(BASE, local_files_only=True)
    get_peft_model(network, LoraConfig(r=2, target_modules="all-linear")).save_pretrained(folder)
    name_base(folder, "nano-base", tree_digest(BASE))
    return folder


def test_a_merged_model_is_named_by_its_digest(
    adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model"
    assert main(["merge", str(adapter), "--base", "nano-base", "--out", str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{out}@sha256:{tree_digest(out)}"]
    assert find_model(str(out)) == out


def test_another_base_is_refused_before_anything_is_written(
    adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["merge", str(adapter), "--base", "nano", "--out", str(tmp_path / "model")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"the adapter in {adapter} is over nano-base of digest {tree_digest(BASE)[:12]}, and not over nano" in line
    assert not list(tmp_path.iterdir())


def test_without_a_digest_the_name_and_the_shapes_decide(
    adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = tmp_path / "foreign"
    shutil.copytree(adapter, foreign, ignore=shutil.ignore_patterns("base.json"))
    assert main(["merge", str(foreign), "--base", "nano", "--out", str(tmp_path / "model")]) == 1
    assert f"the adapter in {foreign} is over nano-base, and not over nano" in capsys.readouterr().err
    (foreign / "adapter_model.safetensors").write_bytes(b"none")
    assert main(["merge", str(foreign), "--base", "nano-base", "--out", str(tmp_path / "model")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"the adapter in {foreign} cannot be loaded: " in line


def test_what_is_there_is_not_overwritten(adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a file").write_text("of somebody")
    assert main(["merge", str(adapter), "--base", "nano-base", "--out", str(tmp_path)]) == 1
    assert "is there already, and not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]


def test_an_adapter_is_no_model_and_the_way_to_one_is_told(
    adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    assert main(["pipeline", "--preset", "micro", "--model", str(adapter), "--run", run]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{adapter} is an adapter over nano-base" in line
    assert f"rl-gym merge {adapter} --base SOURCE --out FOLDER" in line
    assert not (tmp_path / "run").exists()
