"""`rl-gym nano build`: the same seed gives the same bytes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

from rl_gym.cli.main import main
from rl_gym.infra.digests import tree_digest
from rl_gym.serving.weights import find_model
from rl_gym.training.run import Run


def build(folder: Path, *arguments: str) -> str:
    assert main(["nano", "build", "--out", str(folder), "--steps", "1", *arguments]) == 0
    digest: str = json.loads((folder / "build.json").read_text())["digest"]
    return digest


def test_the_seed_decides_every_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again, other = (build(tmp_path / n, "--seed", s) for n, s in (("a", "5"), ("b", "5"), ("c", "6")))
    assert first == again
    assert first != other
    out = capsys.readouterr().out
    assert first in out.replace("\n", "")
    assert {path.name for path in (tmp_path / "a").iterdir()} == {
        path.name for path in find_model("nano-base").iterdir()
    }


@pytest.mark.parametrize("name", ["nano-base", "nano"])
def test_a_packaged_model_is_the_one_that_its_record_names(name: str, tmp_path: Path) -> None:
    folder = find_model(name)
    record = json.loads((folder / "build.json").read_text())
    for path in folder.iterdir():
        if path.name != "build.json":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert tree_digest(tmp_path) == record["digest"]


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    assert main(["nano", "build", "--out", str(tmp_path)]) == 1
    assert "is no folder of a nano model" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["nano", "build", "--out", str(tmp_path / "file" / "model"), "--steps", "1"]) == 1
    error = capsys.readouterr().err
    assert "could not be written" in error
    assert error.count("\n") == 1


def test_a_run_that_has_trained_nothing_cannot_be_packed(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run_folder / "grpo" / "manifest.json").unlink()
    assert main(["nano", "pack", str(run_folder), "--out", str(tmp_path / "model")]) == 1
    assert "'grpo' has not ended" in capsys.readouterr().err


def test_a_packed_model_is_half_as_large_and_says_where_it_comes_from(run_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(find_model("nano-base"), run_folder / "grpo" / "model")
    Run.open(run_folder).seal("grpo")
    assert main(["nano", "pack", str(run_folder), "--out", str(tmp_path / "model")]) == 0
    record = json.loads((tmp_path / "model" / "build.json").read_text())
    assert record["trained"]["preset"] == "micro"
    assert record["trained"]["full_precision"] == tree_digest(run_folder / "grpo" / "model")
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (tmp_path / "model", find_model("nano-base"))]
    assert sizes[0] == sizes[1]
