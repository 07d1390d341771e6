"""Models by name and by folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.infra.errors import NotFoundError
from rl_gym.serving.weights import PACKAGED, find_model, packaged_models


def test_packaged_models_are_small_and_complete() -> None:
    assert "nano-base" in packaged_models()
    for name in packaged_models():
        files = {path.name: path.stat().st_size for path in (PACKAGED / name).iterdir()}
        assert {"config.json", "model.safetensors", "tokenizer.json"} <= files.keys()
        assert sum(files.values()) < 4_000_000


def test_a_name_and_a_folder_are_found(tmp_path: Path) -> None:
    assert find_model("nano-base") == PACKAGED / "nano-base"
    (tmp_path / "config.json").write_text("{}")
    assert find_model(str(tmp_path)) == tmp_path


@pytest.mark.parametrize(("name", "hint"), [("nano-bass", "did you mean 'nano-base'"), ("gpt", "packaged are: nano")])
def test_a_missing_model_says_what_there_is(name: str, hint: str) -> None:
    with pytest.raises(NotFoundError, match=hint):
        find_model(name)
