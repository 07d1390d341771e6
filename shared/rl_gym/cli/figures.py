"""Figures with their intervals on a terminal: how every table of them looks, and how a difference is told in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rl_gym.gym.statistics import Interval

__all__ = ["difference_text", "figures_table", "interval_text", "stored_interval"]


def figures_table(title: str, caption: str, columns: Sequence[str]) -> Table:
    """A table without rules: names in the first column, figures to the right in the others."""
    table = Table(
        title=title,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 1),
    )
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    return table


def interval_text(interval: Interval, *, sign: str = "") -> Text:
    """The estimate, and below it the interval, without the zeros before the points; a difference to a digit more.

    An interval that so few say nothing about is left out.
    """
    if not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        return Text(f"{interval.estimate:{sign}.3f}")
    form = "+.3f" if sign else ".2f"
    low, high = (f"{end:{form}}".replace("0.", ".", 1) for end in (interval.low, interval.high))
    return Text.assemble(f"{interval.estimate:{sign}.3f}", "\n", (f"[{low},{high}]", "dim"))


def difference_text(interval: Interval) -> str:
    """A difference and its interval, for a line of text."""
    return f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def stored_interval(row: Mapping[str, Any]) -> Interval:
    """An interval as it was written: an end that is not known stands as null."""
    from rl_gym.gym.statistics import Interval

    low, high = row["low"], row["high"]
    return Interval(row["estimate"], -math.inf if low is None else low, math.inf if high is None else high, row["n"])
