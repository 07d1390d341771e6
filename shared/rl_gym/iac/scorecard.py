"""The scorecard of a configuration for people: rules with tick or cross, the security bar, gates, reward.

It is made of styled text, a list of lines of spans, so that the command line can print it without waiting for rich.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rl_gym.gym.core import RewardBreakdown
from rl_gym.iac.report import ScanReport

if TYPE_CHECKING:
    from rich.text import Text

Span = tuple[str, str]
"""Text and its style: a rich style that is made of names in `ANSI`."""
Line = list[Span]

ANSI = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
SEVERITY_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan"}
_MARKS = {"pass": ("✔", "+", "green"), "fail": ("✘", "x", "red"), "unknown": ("?", "?", "yellow")}
_BAR_CELLS = 24
_COLUMNS = 3
_WIDTH = 100


def render_scorecard(report: ScanReport, breakdown: RewardBreakdown | None = None) -> Text:
    """The scorecard as a rich renderable, with the reward where a breakdown is given."""
    from rich.text import Text

    lines = scorecard(report, breakdown)
    return Text("\n").join(Text.assemble(*line) for line in lines)


def scorecard(
    report: ScanReport,
    breakdown: RewardBreakdown | None = None,
    *,
    width: int = _WIDTH,
    plain: bool = False,
    brief: bool = False,
) -> list[Line]:
    """The lines of the scorecard; `width` in characters, `plain` where only ASCII can be shown, `brief`: no rules."""
    lines = [] if brief else _rules(report, width, plain)
    lines.append([("security  ", ""), *_bar(report.security, plain)])
    lines.append([("gates     ", ""), *_gates(report.gates, plain)])
    if breakdown is not None:
        style = "green" if breakdown.reward >= 1 else "red" if breakdown.reward <= 0 else "yellow"
        lines.append([("reward    ", ""), (f"{breakdown.reward:.3f}", f"bold {style}")])
    return lines


def painted(line: Sequence[Span], colour: bool) -> str:
    """A line as text, with the escapes of a terminal where `colour` is true."""
    if not colour:
        return "".join(text for text, _ in line).rstrip()
    return "".join(_escaped(text, style) for text, style in line)


def _escaped(text: str, style: str) -> str:
    codes = ";".join(ANSI[name] for name in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes else text


def _rules(report: ScanReport, width: int, plain: bool) -> list[Line]:
    """Every rule that applies, in as many columns as fit."""
    if not report.valid:
        return [[(f"cannot be read: {error}", "red")] for error in report.errors]
    cells: list[Line] = [
        [_mark(verdict, plain), (f" {rule.id} ", ""), (rule.severity, f"dim {SEVERITY_STYLES[rule.severity]}")]
        for rule in report.ruleset.rules
        if (verdict := report.verdicts[rule.id]) != "na"
    ]
    if not cells:
        return [[("no rule of the ruleset applies", "dim")]]
    cell_width = max(map(_length, cells)) + 2
    columns = max(1, min(_COLUMNS, width // cell_width))
    padded = [[*cell, (" " * (cell_width - _length(cell)), "")] for cell in cells]
    rows = [padded[start : start + columns] for start in range(0, len(padded), columns)]
    return [[span for cell in row for span in cell] for row in rows]


def _length(line: Line) -> int:
    return sum(len(text) for text, _ in line)


def _mark(verdict: str, plain: bool) -> Span:
    fancy, ascii_mark, style = _MARKS[verdict]
    return (ascii_mark if plain else fancy, style)


def _bar(share: float | None, plain: bool) -> Line:
    if share is None:
        return [("nothing to judge", "dim")]
    full, empty = ("#", ".") if plain else ("█", "░")
    # Rounded down, so that a full bar means that everything passes.
    cells = int(share * _BAR_CELLS)
    style = "green" if share >= 1 else "yellow" if share >= 0.5 else "red"
    return [(full * cells, style), (empty * (_BAR_CELLS - cells), "dim"), (f" {share:.3f}", "")]


def _gates(gates: Mapping[str, bool], plain: bool) -> Line:
    return [
        span
        for name, holds in gates.items()
        for span in (_mark("pass" if holds else "fail", plain), (f" {name}  ", ""))
    ]
