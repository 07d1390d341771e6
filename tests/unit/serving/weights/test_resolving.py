"""Models by name, by folder, and by sources that are fetched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import ForbiddenError, NotFoundError, RlGymError, UsageError
from rl_gym.infra.settings import load_settings
from rl_gym.serving.weights import PACKAGED, Terms, find_model, packaged_models, resolve_weights

NANO = PACKAGED / "nano-base"


def test_packaged_models_are_small_and_complete() -> None:
    assert "nano-base" in packaged_models()
    for name in packaged_models():
        files = {path.name: path.stat().st_size for path in (PACKAGED / name).iterdir()}
        assert {"config.json", "model.safetensors", "tokenizer.json"} <= files.keys()
        assert sum(files.values()) < 4_000_000


def test_a_name_and_a_folder_are_found(tmp_path: Path) -> None:
    assert find_model("nano-base") == NANO
    folder = shutil.copytree(NANO, tmp_path / "mine")
    assert find_model(str(folder)) == folder


@pytest.mark.parametrize(
    ("name", "hint"),
    [("nano-bass", "did you mean 'nano-base'"), ("gpt", "packaged are: nano"), ("Qwen/Qwen2.5-7B", "hub:ORG/NAME")],
)
def test_a_missing_model_says_what_there_is(name: str, hint: str) -> None:
    with pytest.raises(NotFoundError, match=hint):
        find_model(name)


def test_a_model_is_named_by_the_digest_of_its_files(tmp_path: Path) -> None:
    found = resolve_weights("nano-base", None, tmp_path)
    assert (found.folder, found.digest) == (NANO, tree_digest(NANO))
    assert found.origin == f"nano-base@sha256:{found.digest}"
    assert resolve_weights(found.origin, None, tmp_path) == found
    assert find_model(found.origin) == NANO


def test_another_digest_than_the_pinned_one_is_refused() -> None:
    with pytest.raises(UsageError, match=f"has the sha256 {tree_digest(NANO)}, not {'0' * 64}"):
        find_model(f"nano-base@sha256:{'0' * 64}")


@pytest.mark.parametrize("source", ["hub:someone/model", "s3://bucket/model", "gguf:model.gguf", "nano", "./folder"])
def test_what_is_not_allowed_is_refused_before_anything_is_looked_at(source: str, tmp_path: Path) -> None:
    with pytest.raises(ForbiddenError, match=r"add .* to RL_GYM_WEIGHTS"):
        resolve_weights(source, None, tmp_path, Terms(allowed=("hub:Qwen",)))
    assert not any(tmp_path.iterdir())


def test_the_environment_says_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RL_GYM_WEIGHTS", "hub:Qwen, s3://models/ours")
    assert load_settings().weights == ("hub:Qwen", "s3://models/ours")
    with pytest.raises(ForbiddenError, match="add packaged to RL_GYM_WEIGHTS"):
        find_model("nano")


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("model.safetensors", "has no weights in safetensors"),
        ("tokenizer.json", "has no tokenizer.json"),
        ("config.json", "nor a folder with config.json|neither a packaged one nor a folder"),
    ],
)
def test_half_a_model_is_refused(missing: str, said: str, tmp_path: Path) -> None:
    folder = shutil.copytree(NANO, tmp_path / "mine")
    (folder / missing).unlink()
    with pytest.raises(RlGymError, match=said):
        find_model(str(folder))
