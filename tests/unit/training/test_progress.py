"""One bar for a run: shares by effort, sparse plain lines off a terminal."""

from __future__ import annotations

import io
import re

from rich.console import Console

from rl_gym.training.progress import RunProgress


def lines(*, weights: dict[str, float], updates: list[tuple[str, float, float]]) -> list[str]:
    stream = io.StringIO()
    console = Console(file=stream, width=100)
    with RunProgress(console, weights) as progress:
        for update in updates:
            progress.update(*update)
    return stream.getvalue().splitlines()


def test_off_a_terminal_a_line_every_tenth() -> None:
    updates = [("sft", step, 100.0) for step in range(101)]
    said = lines(weights={"sft": 1.0}, updates=updates)
    assert [int(line.split("%")[0]) for line in said] == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]


def test_a_job_counts_by_its_effort() -> None:
    said = lines(weights={"sft": 1.0, "grpo": 9.0}, updates=[("sft", 1, 1), ("grpo", 1, 3)])
    assert [line.split()[0] for line in said] == ["10%", "40%"]
    assert said[-1].endswith("grpo 1/3")


def test_what_is_skipped_counts_as_done() -> None:
    stream = io.StringIO()
    with RunProgress(Console(file=stream), {"a": 1.0, "b": 1.0}) as progress:
        progress.finish("a")
        progress.finish("unknown")
    assert re.findall(r"\d+%", stream.getvalue()) == ["50%"]


def test_on_a_terminal_one_bar_is_redrawn() -> None:
    stream = io.StringIO()
    with RunProgress(Console(file=stream, force_terminal=True, width=100), {"sft": 1.0, "grpo": 1.0}) as progress:
        progress.update("sft", 1, 2)
        progress.update("grpo", 2, 2)
    assert stream.getvalue().count("\n") == 1
    assert "75%" in stream.getvalue().splitlines()[-2]
