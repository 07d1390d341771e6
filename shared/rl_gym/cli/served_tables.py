"""What a run found of models as they serve, for a terminal: best-of-n and second answers, and a bake-off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from rl_gym.cli.figures import figures_table, interval_text, stored_interval

if TYPE_CHECKING:
    from rl_gym.training.run import Run

__all__ = ["served_tables"]


def served_tables(run: Run) -> Iterator[Table]:
    """The tables of the stages that have ended, where the run was asked for such figures."""
    from rl_gym.gym.files import read_document
    from rl_gym.training.serving_figures import FILE
    from rl_gym.training.stages.bakeoff import TABLE

    figures = run.folder / "evaluate" / FILE
    if run.ended("evaluate") and figures.exists():
        yield _figures(read_document(figures))
    if run.ended("bakeoff"):
        yield _bakeoff(read_document(run.folder / "bakeoff" / TABLE), run.config.evaluate.anchor)


def _figures(found: Mapping[str, Any]) -> Table:
    table = figures_table(
        "As it serves: one sample, the best of several, and a second answer to what failed",
        "below each mean its 95% interval, clustered by episode; gain: paired, over one sample",
        ("policy", "n", "pass@1", f"best of {found['best_of'] or 'n'}", "gain", "+repair", "gain"),
    )
    for policy, own in found["policies"].items():
        cells: list[Text | str] = [_text(own["pass@1"])]
        for name in ("best_of", "repair"):
            cells += [_text(own[name]["reward"]), _text(own[name]["gain"], "+")] if name in own else ["", ""]
        table.add_row(policy, str(own["n"]), *cells)
    return table


def _bakeoff(found: Mapping[str, Any], anchor: str) -> Table:
    rows = found["rows"]
    table = figures_table(
        f"Bake-off on {anchor}: {rows[0]['episodes']} episodes",
        "below each mean its 95% interval, clustered by episode; vs first: paired, sampled",
        ("model", "n", "sampled", "vs first", "greedy", "gate rate", "valid rate"),
    )
    for row in rows:
        sampled, greedy, over = row["sampled"], row["greedy"], row["over_first"]
        table.add_row(
            row["policy"],
            str(sampled["n"]),
            _text(sampled["reward"]),
            _text(over, "+") if over else "",
            _text(greedy["reward"]),
            _text(sampled["gate_rate"]),
            _text(sampled["valid_rate"]),
        )
    return table


def _text(row: Mapping[str, Any], sign: str = "") -> Text:
    return interval_text(stored_interval(row), sign=sign)
