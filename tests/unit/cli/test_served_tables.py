"""Tables of models as they serve, from what stages have written."""

from __future__ import annotations

import io
import json
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

pytest.importorskip("scipy")

from rl_gym.cli.served_tables import served_tables
from rl_gym.gym.ladder import ladder
from rl_gym.gym.records import RecordedCompletion
from rl_gym.serving.tables.bakeoff import Bakeoff, BakeoffRow
from rl_gym.training.config import resolve
from rl_gym.training.run import Run
from rl_gym.training.serving_figures import FILE, serving_figures
from rl_gym.training.stages.bakeoff import TABLE
from rl_gym.wire.run import RunMode


def printed(run: Run) -> str:
    stream = io.StringIO()
    for table in served_tables(run):
        Console(file=stream, width=80).print(table)
    return stream.getvalue()


def run_of(folder: Path, mode: RunMode) -> Run:
    return Run.create(folder, resolve("micro", mode=mode), now=datetime(2025, 1, 1), digests={})


def test_figures_stand_beside_the_ladder_where_they_were_asked_for(
    tmp_path: Path, completions: list[RecordedCompletion]
) -> None:
    run = run_of(tmp_path / "run", "eval-only")
    named = [one.model_copy(update={"model": "d" * 12 if one.policy == "sft" else ""}) for one in completions]
    right = {one.episode_hash: one for one in named if one.policy == "oracle" and not one.greedy}
    again = [right[one.episode_hash].model_copy(update={"policy": "sft"}) for one in named if one.policy == "sft"]
    found = serving_figures(named, n=None, second=again)
    run.stage("evaluate").joinpath(FILE).write_text(json.dumps(found))
    assert printed(run) == ""
    run.seal("evaluate")
    text = printed(run)
    assert "…" not in text
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line[:1].isalpha()}
    assert rows["sft"][2] == "1.000"
    assert float(rows["sft"][3]) == pytest.approx(1 - float(rows["sft"][1]), abs=2e-3)
    assert rows["oracle"] == ["192", "1.000"]


def test_a_bake_off_is_shown(tmp_path: Path, completions: list[RecordedCompletion]) -> None:
    run = run_of(tmp_path / "run", "bakeoff")
    rows = [BakeoffRow(rung, 1.0, 0.0, 0, 1.0, None, None, True) for rung in ladder(completions)]
    run.stage("bakeoff").joinpath(TABLE).write_text(json.dumps(Bakeoff(rows, None, completions).to_dict()))
    run.seal("bakeoff")
    text = printed(run)
    assert "Bake-off on synthetic: 192 episodes" in text
    assert text.count("1.000") >= 2
