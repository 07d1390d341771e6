"""What runs of the modes repair and drift measure beside the ladder, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table

from rl_gym.cli.figures import difference_text, figures_table, interval_text, stored_interval

if TYPE_CHECKING:
    from rl_gym.training.run import Run

__all__ = ["drift_table", "mode_tables", "repair_table"]


def mode_tables(run: Run) -> Iterator[Table]:
    """The tables of what the run's evaluation left beside its ladder."""
    from rl_gym.gym.files import read_document
    from rl_gym.training.stages import drift, repair_turns

    folder = run.folder / "evaluate"
    if (folder / repair_turns.REPORT).exists():
        yield repair_table(read_document(folder / repair_turns.REPORT))
    if (folder / drift.REPORT).exists():
        yield drift_table(read_document(folder / drift.REPORT))


def repair_table(found: Mapping[str, Any]) -> Table:
    """Each policy after one answer and after a repair turn, and below that candidate less incumbent."""
    lines = ["full: share of answers of reward 1", "gain: what the repair turn adds, paired"]
    table = figures_table(
        "Two-pass repair, sampled answers", "", ("policy", "n", "reward", "repaired", "gain", "full", "repaired")
    )
    for name, side in found["policies"].items():
        reward, full = ({when: stored_interval(row) for when, row in side[one].items()} for one in ("reward", "full"))
        table.add_row(
            name,
            str(side["n"]),
            interval_text(reward["before"]),
            interval_text(reward["after"]),
            interval_text(reward["gain"], sign="+"),
            interval_text(full["before"]),
            interval_text(full["after"]),
        )
        lines.append(
            f"{name}: {side['attempts']} of {side['due']} failures mended anew, {side['converted']} to reward 1"
        )
    lines.append("candidate less incumbent, paired:")
    for measure, differences in found["lift"].items():
        for when, words in (("before", "one answer"), ("after", "repaired"), ("gain", "gain")):
            lines.append(f"  {measure:<6}  {words:<10}  {difference_text(stored_interval(differences[when]))}")
    table.caption = "\n".join(lines)
    return table


def drift_table(found: Mapping[str, Any]) -> Table:
    """Both models under the rules before and now, and the four differences that a drift is about."""
    before, now = found["rules"]["before"], found["rules"]["now"]
    table = figures_table(
        f"Drift from {before} to {now}, sampled answers",
        "kept: candidate less incumbent, before\nrecovered: candidate less incumbent, now\n"
        "drop: incumbent, now less before\nleft: candidate now less incumbent before",
        ("policy", before, now),
    )
    for name, levels in found["levels"].items():
        table.add_row(name, *(interval_text(stored_interval(levels[when])) for when in ("before", "now")))
    differences = {name: interval_text(stored_interval(row), sign="+") for name, row in found["differences"].items()}
    table.add_row("kept / recovered", differences["kept"], differences["recovered"])
    table.add_row("drop / left", differences["drop"], differences["left"])
    return table
