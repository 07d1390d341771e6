"""The scorecard of a configuration for people: rules with tick or cross, the security bar, gates, reward."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from rl_gym.gym.core import RewardBreakdown
from rl_gym.iac.report import ScanReport

_MARKS = {"pass": ("✔", "+", "green"), "fail": ("✘", "x", "red"), "unknown": ("?", "?", "yellow")}
SEVERITY_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan"}
_BAR_CELLS = 24
_COLUMNS = 3


class Scorecard:
    """A rich renderable over one report, and over the reward where there is one; plain ASCII where the console is."""

    def __init__(self, report: ScanReport, breakdown: RewardBreakdown | None = None) -> None:
        self._report = report
        self._breakdown = breakdown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        ascii_only = options.ascii_only
        yield Group(*self._rules(ascii_only, options.max_width), *self._numbers(ascii_only))

    def _rules(self, ascii_only: bool, width: int) -> list[Table | Text]:
        """Every rule that applies, in as many columns as fit."""
        if not self._report.valid:
            return [Text(f"not readable: {error}", style="red") for error in self._report.errors]
        cells = [
            Text.assemble(
                (_mark(verdict, ascii_only), _MARKS[verdict][2]),
                " ",
                rule.id,
                " ",
                (rule.severity, _severity(rule.severity)),
            )
            for rule in self._report.ruleset.rules
            if (verdict := self._report.verdicts[rule.id]) != "na"
        ]
        if not cells:
            return [Text("no rule of the ruleset applies", style="dim")]
        columns = max(1, min(_COLUMNS, width // (max(cell.cell_len for cell in cells) + 2)))
        table = Table.grid(padding=(0, 2))
        for start in range(0, len(cells), columns):
            table.add_row(*cells[start : start + columns])
        return [table]

    def _numbers(self, ascii_only: bool) -> list[Text]:
        lines = [Text.assemble("security  ", _bar(self._report.security, ascii_only))]
        lines.append(Text.assemble("gates     ", *_gates(self._report.gates, ascii_only)))
        if self._breakdown is not None:
            reward = self._breakdown.reward
            style = "green" if reward >= 1 else "red" if reward <= 0 else "yellow"
            lines.append(Text.assemble("reward    ", (f"{reward:.3f}", f"bold {style}")))
        return lines


def render_scorecard(report: ScanReport, breakdown: RewardBreakdown | None = None) -> Scorecard:
    """The scorecard of a report as a rich renderable, with the reward where a breakdown is given."""
    return Scorecard(report, breakdown)


def _mark(verdict: str, ascii_only: bool) -> str:
    return _MARKS[verdict][1 if ascii_only else 0]


def _severity(severity: str) -> str:
    return f"dim {SEVERITY_STYLES[severity]}"


def _bar(share: float | None, ascii_only: bool) -> Text:
    if share is None:
        return Text("nothing to judge", style="dim")
    full, empty = ("#", ".") if ascii_only else ("█", "░")
    # Rounded down, so that a full bar means that everything passes.
    cells = int(share * _BAR_CELLS)
    style = "green" if share >= 1 else "yellow" if share >= 0.5 else "red"
    return Text.assemble((full * cells, style), (empty * (_BAR_CELLS - cells), "dim"), f" {share:.3f}")


def _gates(gates: Mapping[str, bool], ascii_only: bool) -> list[Text | tuple[str, str] | str]:
    parts: list[Text | tuple[str, str] | str] = []
    for name, holds in gates.items():
        verdict = "pass" if holds else "fail"
        parts += [(_mark(verdict, ascii_only), _MARKS[verdict][2]), f" {name}  "]
    return parts
