"""Which weights `the trained model` means."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pytest

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.serving.weights import find_model
from rl_gym.training.config import resolve
from rl_gym.training.models import trained_model
from rl_gym.training.run import Run


def trained(folder: Path) -> Run:
    run = Run.create(folder, resolve("micro"), now=datetime(2025, 1, 1), digests={})
    for stage in ("prepare", "sft", "grpo"):
        (run.stage(stage) / "model").mkdir()
        (run.stage(stage) / "model" / "config.json").write_text("{}")
        run.seal(stage)
    return run


def test_without_runs_the_packaged_model(tmp_path: Path) -> None:
    found = trained_model(tmp_path)
    assert (found.folder, found.base) == (find_model("nano"), find_model("nano-base"))
    assert found.origin == "the packaged model"


def test_the_last_run_goes_before_the_packaged_model(tmp_path: Path) -> None:
    run = trained(tmp_path / "a")
    found = trained_model(tmp_path)
    assert found.folder == run.folder / "grpo" / "model"
    assert found.origin == f"run {run.folder}"


def test_a_named_run_goes_before_the_last(tmp_path: Path) -> None:
    first = trained(tmp_path / "a")
    trained(tmp_path / "b")
    assert trained_model(tmp_path, run=first).folder == first.folder / "grpo" / "model"


def test_a_damaged_run_is_not_passed_over(tmp_path: Path) -> None:
    run = trained(tmp_path / "a")
    (run.folder / "grpo" / "model" / "config.json").write_text("changed")
    with pytest.raises(UsageError, match="is not what stage 'grpo' wrote"):
        trained_model(tmp_path)


def test_a_run_that_kept_the_adapter_alone_says_how_to_merge_it(tmp_path: Path) -> None:
    run = trained(tmp_path / "a")
    (run.folder / "grpo" / "model").rename(run.folder / "grpo" / "adapter")
    run.seal("grpo")
    with pytest.raises(
        UsageError, match=r"has an adapter alone .*: make a model by `rl-gym merge .*grpo/adapter --base"
    ):
        trained_model(tmp_path)


def test_a_run_that_was_fetched_without_its_model_stands_before_none(tmp_path: Path) -> None:
    here = trained(tmp_path / "a")
    fetched = trained(tmp_path / "b")
    shutil.rmtree(fetched.folder / "grpo" / "model")
    fetched.seal("grpo")
    assert trained_model(tmp_path).folder == here.folder / "grpo" / "model"
    with pytest.raises(NotFoundError, match=r"b/grpo has no model: a trainer keeps those of its runs"):
        trained_model(tmp_path, run=fetched)
    shutil.rmtree(here.folder)
    assert trained_model(tmp_path).origin == "the packaged model"


def test_a_run_that_trained_nothing_is_refused(tmp_path: Path) -> None:
    run = Run.create(tmp_path, resolve("micro"), now=datetime(2025, 1, 1), digests={})
    with pytest.raises(NotFoundError, match="stage 'grpo' has not ended"):
        trained_model(tmp_path, run=run)
