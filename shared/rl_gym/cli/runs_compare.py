"""`rl-gym runs compare`: two run folders side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from rl_gym.gym.statistics import Interval
    from rl_gym.training.comparison import Comparison

__all__ = ["compare_runs"]


def compare_runs(
    first: Annotated[Path, typer.Argument(metavar="A", help="a run folder")],
    second: Annotated[Path, typer.Argument(metavar="B", help="another")],
    as_json: Annotated[bool, typer.Option("--json", help="print the comparison as JSON")] = False,
) -> None:
    """Print what two runs were told differently, their ladders and lifts, and what audit and gate said.

    B - A is paired by episode, and left out where the two were judged by other rewards or asked other episodes.
    """
    from rl_gym.infra.extras import extra

    with extra("train"):
        from rl_gym.training.comparison import compare

    comparison = compare(first, second)
    if as_json:
        print(json.dumps(comparison.to_dict(), indent=2))
        return
    from rich.console import Console

    console = Console()
    console.print(f"A  {first}\nB  {second}\n", highlight=False, markup=False)
    if not comparison.settings:
        console.print("nothing differs in configuration, versions and base\n")
    for table in (_settings(comparison), _ladders(comparison), _lifts(comparison), _verdicts(comparison)):
        if table.row_count:
            console.print(table)
            console.print()
    if comparison.incomparable:
        console.print(f"no B - A: {comparison.incomparable}", highlight=False, markup=False)


def _settings(comparison: Comparison) -> Table:
    from rich.text import Text

    table = _table("What differs", "key")
    for key, values in comparison.settings.items():
        table.add_row(key, *(Text(value[:12] if key.startswith("digests.") else value) for value in values))
    return table


def _ladders(comparison: Comparison) -> Table:
    from rl_gym.cli.figures import interval_text

    table = _table("Sampled reward", "policy", "B - A", "greedy A", "greedy B")
    for key in comparison.rungs:
        rungs = [found.rungs.get(key) for found in (comparison.first, comparison.second)]
        sampled = [rung.sampled.reward if rung and rung.sampled else None for rung in rungs]
        greedy = [rung.greedy.reward if rung and rung.greedy else None for rung in rungs]
        change = comparison.differences.get(key)
        table.add_row(
            _named(*key, comparison),
            *map(_cell, sampled),
            interval_text(change, sign="+") if change else "-",
            *map(_cell, greedy),
        )
    return table


def _cell(interval: Interval | None) -> Text | str:
    from rl_gym.cli.figures import interval_text

    return interval_text(interval) if interval else "-"


def _lifts(comparison: Comparison) -> Table:
    from rl_gym.cli.figures import interval_text

    table = _table("Lift in sampled reward, paired by episode", "from -> to")
    both = comparison.first.lifts, comparison.second.lifts
    for split, before, after in dict.fromkeys([*both[0], *both[1]]):
        own = [lifts.get((split, before, after)) for lifts in both]
        cells = [interval_text(lift.reward, sign="+") if lift else "-" for lift in own]
        table.add_row(f"{before} -> {_named(split, after, comparison)}", *cells)
    return table


def _verdicts(comparison: Comparison) -> Table:
    from rich.text import Text

    table = _table("What was said of them", "")
    both = comparison.first, comparison.second
    for name, lines in (
        ("alarms in training", [found.alarms for found in both]),
        ("audit", [found.audit for found in both]),
        ("gate", [[found.decision, *found.reasons] for found in both]),
    ):
        table.add_row(name, *(Text("\n".join(own) or "-") for own in lines))
    return table


def _table(title: str, name: str, *more: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 1))
    table.add_column(name)
    for column in ("A", "B", *more):
        table.add_column(column, justify="left" if name in ("", "key") else "right")
    return table


def _named(split: str, policy: str, comparison: Comparison) -> str:
    """The policy, with its anchor where there is more than one."""
    several = len({split for split, _ in comparison.rungs}) > 1
    return f"{policy} ({split})" if several else policy
