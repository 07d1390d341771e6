"""Answers to one request side by side: the Terraform, highlighted, and its scorecard below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from rl_gym.gym.core import Episode, RewardBreakdown
from rl_gym.iac.prompts import parse_completion
from rl_gym.iac.report import ScanReport
from rl_gym.iac.reward import IacAction, make_reward
from rl_gym.iac.scorecard import scorecard

__all__ = ["PROFILE", "RULESET", "Answer", "show_answers"]

RULESET, PROFILE = "seed18", "default@1"
"""What the nano model was trained against, and so what its answers are judged by here."""

_NARROWEST_COLUMN = 56


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion and who wrote it."""

    by: str
    completion: str


def show_answers(console: Console, request: str, required: Sequence[str], answers: Sequence[Answer]) -> None:
    """Print the request, and each answer with its scorecard: in columns where the console is wide enough."""
    console.print(Text.assemble(("request   ", "bold"), request))
    if required:
        console.print(Text.assemble(("required  ", "bold"), ", ".join(required)))
    panels = [_panel(answer, request, required) for answer in answers]
    if len(panels) * _NARROWEST_COLUMN > console.width:
        console.print(*panels, sep="\n")
        return
    grid = Table.grid(expand=True, padding=(0, 1))
    for _ in panels:
        grid.add_column(ratio=1)
    grid.add_row(*panels)
    console.print(grid)


@dataclass(frozen=True, slots=True)
class _Scorecard:
    """A scorecard as wide as the panel that it stands in."""

    report: ScanReport
    breakdown: RewardBreakdown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = scorecard(self.report, self.breakdown, width=options.max_width, plain=options.ascii_only)
        yield Text("\n").join(Text.assemble(*line) for line in lines)


def _panel(answer: Answer, request: str, required: Sequence[str]) -> RenderableType:
    hcl = parse_completion(answer.completion)
    text = Syntax(hcl or answer.completion or "(nothing)", "terraform", theme="ansi_dark", word_wrap=True)
    episode = Episode("", request, data={"required": list(required)})
    reward = make_reward(PROFILE, RULESET)
    if hcl is None:
        verdict: RenderableType = Text("no Terraform in this answer: reward 0", style="red")
    else:
        action = IacAction(hcl, RULESET)
        verdict = _Scorecard(action.report(tuple(required)), reward.score(action, episode))
    return Panel(Group(text, Text(""), verdict), title=answer.by, title_align="left")
