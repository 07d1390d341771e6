"""Which folders hold a model that may be loaded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rl_gym.infra.errors import NotFoundError, RlGymError, TooLargeError, UsageError
from rl_gym.serving.weights import PACKAGED
from rl_gym.serving.weights.files import check_files, check_listing, is_wanted

WHOLE = 10**9


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(PACKAGED / "nano", tmp_path / "model")


def shards(folder: Path, named: object) -> None:
    """Call the weights the first of several, with an index."""
    (folder / "model.safetensors").rename(folder / "model-00001-of-00001.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": named}))


def test_a_whole_model_is_one(folder: Path) -> None:
    check_files(folder, "mine", WHOLE)
    shards(folder, {"lm_head.weight": "model-00001-of-00001.safetensors"})
    check_files(folder, "mine", WHOLE)


def test_what_else_lies_in_a_folder_does_not_matter(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    (folder / "modeling.py").write_text("raise SystemExit")
    check_files(folder, "mine", WHOLE)


BREAKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "adapter": (lambda f: (f / "adapter_config.json").write_text("{}"), "is an adapter, or has one in it"),
    "damaged config": (lambda f: (f / "config.json").write_text("{"), "config.json is no JSON object"),
    "no model_type": (lambda f: (f / "config.json").write_text("{}"), "config.json names no model_type"),
    "pointer to weights": (
        lambda f: (f / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n"),
        "model.safetensors is damaged or no safetensors file",
    ),
    "cut weights": (
        lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:-1]),
        "model.safetensors is damaged",
    ),
    "tokenizer": (lambda f: (f / "tokenizer.json").write_text("{}"), "tokenizer.json is no tokenizer"),
    "index to a pickle": (lambda f: shards(f, {"a": "pytorch_model.bin"}), "names 'pytorch_model.bin'"),
    "index to elsewhere": (
        lambda f: shards(f, {"a": "../model.safetensors"}),
        "which is no safetensors file beside it",
    ),
    "index of nothing": (lambda f: shards(f, []), "has no weight_map"),
    "no index": (
        lambda f: (f / "model.safetensors").rename(f / "model-00001-of-00002.safetensors"),
        "model.safetensors.index.json is missing",
    ),
}


@pytest.mark.parametrize("case", BREAKS)
def test_what_would_not_load_as_it_is_meant_is_refused(case: str, folder: Path) -> None:
    change, said = BREAKS[case]
    change(folder)
    with pytest.raises(UsageError, match=said):
        check_files(folder, "mine", WHOLE)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"config\.json is missing"):
        check_files(tmp_path, "mine", WHOLE)


@pytest.mark.parametrize(
    ("sizes", "kind", "said"),
    [
        ({"pytorch_model.bin": 1}, UsageError, r"no weights in safetensors \(pytorch_model.bin is not read\)"),
        ({}, UsageError, "no weights in safetensors$"),
        ({"model.safetensors": 1}, UsageError, "has no config.json"),
        ({"model.safetensors": 1, "config.json": 1}, UsageError, "has no tokenizer.json"),
        ({"model.safetensors": 99, "config.json": 1, "tokenizer.json": 1}, TooLargeError, "has 101 bytes"),
        ({"model.safetensors": 1, "config.json": 1, "tokenizer.json": 10**8}, TooLargeError, "tokenizer.json has"),
    ],
)
def test_a_listing_tells_before_anything_is_fetched(sizes: dict[str, int], kind: type[RlGymError], said: str) -> None:
    with pytest.raises(kind, match=said):
        check_listing(sizes, "mine", 100)


@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "modeling.py", "adapter_config.json", "sub/model.safetensors", "a.safetensors", ".x"]
)
def test_files_of_other_names_are_left_where_they_are(name: str) -> None:
    assert not is_wanted(name)
