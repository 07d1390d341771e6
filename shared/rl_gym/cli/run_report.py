"""What a run found, for a terminal: the ladder with its intervals, the audit, the verdict, and where the files are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rl_gym.cli.figures import figures_table, interval_text
from rl_gym.cli.mode_tables import mode_tables
from rl_gym.cli.served_tables import served_tables

if TYPE_CHECKING:
    from rl_gym.gym.ladder import LadderRow, Lift
    from rl_gym.training.run import Run

__all__ = ["ladder_table", "print_run"]

_SHOWN = {"sft": "SFT", "grpo": "GRPO"}
_DECISIONS = {"PROMOTE": "green", "BLOCK": "red", "UNDECIDED": "yellow"}


def print_run(console: Console, run: Run) -> None:
    """Print what the stages that have ended found."""
    from rl_gym.gym.audit import read_report
    from rl_gym.gym.files import read_document
    from rl_gym.gym.ladder import ladder, lifts
    from rl_gym.gym.records import read
    from rl_gym.training.chain import trainers
    from rl_gym.training.collapse import run_alarms
    from rl_gym.training.stages.promote import read_promotion

    if run.ended("evaluate"):
        records = read(run.folder / "evaluate" / "completions.jsonl")
        console.print(ladder_table(ladder(records), lifts(records)))
        for table in mode_tables(run):
            console.print(table)
    for table in served_tables(run):
        console.print(table)
    if run.ended("audit"):
        report = read_report(run.folder / "audit" / "report.json")
        console.print(report.to_table())
        alarms = [f"ALARM training: {alarm}" for alarm in run_alarms(run, trainers(run.stages)[-1])]
        for line in [*alarms, *report.verdict_lines]:
            console.print(f"  {line}", markup=False, highlight=False)
    if run.ended("gate"):
        verdict = read_document(run.folder / "gate" / "verdict.json")
        decision = str(verdict["decision"])
        sides = " -> ".join(_SHOWN.get(name := verdict[side]["policy"], name) for side in ("incumbent", "candidate"))
        console.print(Text.assemble("\ngate: ", (decision, f"bold {_DECISIONS[decision]}"), f"  {sides}"))
        for reason in verdict["reasons"]:
            console.print(f"  {reason}", markup=False, highlight=False)
    if run.ended("promote"):
        console.print(f"\n{read_promotion(run).said}", markup=False, highlight=False)
    console.print(f"\nfiles: {run.folder}/", highlight=False)


def ladder_table(rows: Sequence[LadderRow], steps: Sequence[Lift]) -> Table:
    """Two lines a policy: sampled and greedy, with the 95% interval below each, and the lift over the policy before.

    Narrow enough for a terminal of 80 columns.
    """
    splits = ", ".join(dict.fromkeys(row.split for row in rows))
    episodes = max((row.episodes for row in rows), default=0)
    table = figures_table(
        f"Ladder on {splits}: {episodes} held-out episodes",
        "below each mean its 95% interval, clustered by episode;\nlift: paired, to the policy above",
        ("policy", "n", "sampled", "lift", "gate rate", "valid rate", "greedy"),
    )
    lift = {(step.split, step.after): step.reward for step in steps}
    for row in rows:
        step = lift.get((row.split, row.policy))
        sampled, greedy = row.sampled, row.greedy
        table.add_row(
            row.policy,
            str(sampled.n) if sampled else "",
            interval_text(sampled.reward) if sampled else "",
            interval_text(step, sign="+") if step else "",
            interval_text(sampled.gate_rate) if sampled else "",
            interval_text(sampled.valid_rate) if sampled else "",
            interval_text(greedy.reward) if greedy else "",
        )
    return table
