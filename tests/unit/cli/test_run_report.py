"""The ladder as people read it: every number whole in 80 columns."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

pytest.importorskip("scipy")

from rl_gym.cli.figures import interval_text
from rl_gym.cli.run_report import ladder_table
from rl_gym.gym.ladder import ladder, lifts
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import bootstrap_mean


def test_the_ladder_fits_80_columns(completions: list[RecordedCompletion]) -> None:
    stream = io.StringIO()
    Console(file=stream, width=80).print(ladder_table(ladder(completions), lifts(completions)))
    text = stream.getvalue()
    assert "…" not in text
    assert "Ladder on dev: 192 held-out episodes" in text
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line[:1].isalpha()}
    assert rows["sft"][0] == rows["grpo"][0] == "192"
    assert rows["oracle"][1:3] == ["1.000", "+0.000"]
    assert float(rows["grpo"][2]) == pytest.approx(1 - float(rows["sft"][1]), abs=2e-3)
    assert "[1.00,1.00]" in text
    assert "[+.000,+.000]" in text


def test_an_interval_that_nobody_knows_is_left_out() -> None:
    assert interval_text(bootstrap_mean([0.5])).plain == "0.500"
