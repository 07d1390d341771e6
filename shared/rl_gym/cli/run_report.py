"""What a run found, for a terminal: the ladder with its intervals, the audit, the verdict, and where the files are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rl_gym.gym.ladder import LadderRow, Lift
    from rl_gym.gym.statistics import Interval
    from rl_gym.training.run import Run

__all__ = ["ladder_table", "print_run"]

_DECISIONS = {"PROMOTE": "green", "BLOCK": "red", "UNDECIDED": "yellow"}


def print_run(console: Console, run: Run) -> None:
    """Print what the stages that have ended found."""
    from rl_gym.gym.audit import read_report
    from rl_gym.gym.files import read_document
    from rl_gym.gym.ladder import ladder, lifts
    from rl_gym.gym.records import read

    if run.ended("evaluate"):
        records = read(run.folder / "evaluate" / "completions.jsonl")
        console.print(ladder_table(ladder(records), lifts(records)))
    if run.ended("audit"):
        report = read_report(run.folder / "audit" / "report.json")
        console.print(report.to_table())
        for line in report.verdict_lines:
            console.print(f"  {line}", markup=False, highlight=False)
    if run.ended("gate"):
        verdict = read_document(run.folder / "gate" / "verdict.json")
        decision = str(verdict["decision"])
        console.print(Text.assemble("\ngate: ", (decision, f"bold {_DECISIONS[decision]}"), "  SFT -> GRPO"))
        for reason in verdict["reasons"]:
            console.print(f"  {reason}", markup=False, highlight=False)
    console.print(f"\nfiles: {run.folder}/", highlight=False)


def ladder_table(rows: Sequence[LadderRow], steps: Sequence[Lift]) -> Table:
    """Two lines a policy: sampled and greedy, with the 95% interval below each, and the lift over the policy before.

    Narrow enough for a terminal of 80 columns.
    """
    splits = ", ".join(dict.fromkeys(row.split for row in rows))
    episodes = max((row.episodes for row in rows), default=0)
    table = Table(
        title=f"Ladder on {splits}: {episodes} held-out episodes",
        title_justify="left",
        caption="below each mean its 95% interval, clustered by episode;\nlift: paired, to the policy above",
        caption_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 1),
    )
    for column in ("policy", "n", "sampled", "lift", "gate rate", "valid rate", "greedy"):
        table.add_column(column, justify="left" if column == "policy" else "right", no_wrap=True)
    lift = {(step.split, step.after): step.reward for step in steps}
    for row in rows:
        step = lift.get((row.split, row.policy))
        sampled, greedy = row.sampled, row.greedy
        table.add_row(
            row.policy,
            str(sampled.n) if sampled else "",
            _interval(sampled.reward) if sampled else "",
            _interval(step, sign="+") if step else "",
            _interval(sampled.gate_rate) if sampled else "",
            _interval(sampled.valid_rate) if sampled else "",
            _interval(greedy.reward) if greedy else "",
        )
    return table


def _interval(interval: Interval, *, sign: str = "") -> Text:
    """The estimate, and below it the interval, without the zeros before the points; a difference to a digit more."""
    form = "+.3f" if sign else ".2f"
    low, high = (f"{end:{form}}".replace("0.", ".", 1) for end in (interval.low, interval.high))
    return Text.assemble(f"{interval.estimate:{sign}.3f}", "\n", (f"[{low},{high}]", "dim"))
