"""Where a run at a trainer may be fetched to: never over another run's folder."""

from __future__ import annotations

import io
import json
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jwt", reason="the extra services is not installed")

from rich.console import Console

from rl_gym.cli import pipeline, trainer_server
from rl_gym.cli.run_artifacts import fetch_run
from rl_gym.infra.errors import ConflictError, NotFoundError
from rl_gym.training.config import resolve
from rl_gym.training.run import Run as RunFolder
from rl_gym.wire import Run, RunEvent, RunSpec

OURS, OTHERS = "20260101-aa", "20260101-bb"


class Trainer:
    """Has one run, that was submitted under the key `ours` and has ended."""

    def __init__(self) -> None:
        self.submitted: list[RunSpec] = []

    def run(self, run: str) -> Run:
        if run != OURS:
            raise NotFoundError(f"no run {run!r}")
        spec = RunSpec(preset="micro", idempotency_key="ours")
        return Run(id=OURS, spec=spec, state="done", created=datetime(2026, 1, 1, tzinfo=UTC), stages=[])

    def submit(self, spec: RunSpec) -> Run:
        self.submitted.append(spec)
        return self.run(OURS)

    def watch(self, run: str) -> list[RunEvent]:
        return []

    def document(self, run: str) -> bytes:
        return document(run)


def document(run: str) -> bytes:
    return json.dumps({"id": run, "config": resolve("micro").model_dump(mode="json")}).encode()


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Trainer:
    made = Trainer()
    monkeypatch.setattr(trainer_server, "trainer", lambda address: nullcontext(made))
    return made


def run_at(folder: Path, **spec: Any) -> RunFolder:
    console = Console(file=io.StringIO())
    return pipeline.run_at(console, "http://trainer", RunSpec(preset="micro", **spec), folder)


@pytest.mark.parametrize("key", [None, "ours", "another"])
def test_another_runs_folder_is_refused_before_anything_is_submitted(
    key: str | None, trainer: Trainer, tmp_path: Path
) -> None:
    RunFolder.restore(tmp_path / "run", document(OTHERS))
    with pytest.raises(ConflictError, match=f"holds another run, {OTHERS}, .*: name another folder by --run"):
        run_at(tmp_path / "run", idempotency_key=key)
    assert trainer.submitted == []
    assert (tmp_path / "run" / "run.json").read_bytes() == document(OTHERS)


@pytest.mark.parametrize("key", [None, "another"])
def test_a_run_of_before_under_another_key_is_another(key: str | None, trainer: Trainer, tmp_path: Path) -> None:
    RunFolder.restore(tmp_path / "run", document(OURS))
    with pytest.raises(ConflictError, match=f"holds another run, {OURS}"):
        run_at(tmp_path / "run", idempotency_key=key)
    assert trainer.submitted == []


def test_a_damaged_run_is_a_run(trainer: Trainer, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ConflictError, match=r"run\.json is of a run, and damaged: no JSON"):
        run_at(tmp_path)
    assert trainer.submitted == []


def test_the_same_run_is_fetched_again_into_its_folder(trainer: Trainer, tmp_path: Path) -> None:
    for _ in range(2):
        run_at(tmp_path / "run", idempotency_key="ours")
    assert len(trainer.submitted) == 2
    assert (tmp_path / "run" / "run.json").read_bytes() == document(OURS)


def test_nothing_is_fetched_over_a_run_that_came_meanwhile(trainer: Trainer, tmp_path: Path) -> None:
    RunFolder.restore(tmp_path, document(OTHERS))
    with pytest.raises(ConflictError, match=f"holds another run, {OTHERS}"):
        fetch_run(trainer, trainer.run(OURS), tmp_path)  # type: ignore[arg-type]
