"""`rl-gym bakeoff`: base models on an anchor before any is trained."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, TaskID
from rich.table import Table
from rich.text import Text

from rl_gym.cli.engines import (
    Anchor,
    CompletionMillion,
    GpuHour,
    Limit,
    MaxTokens,
    ProfileName,
    PromptMillion,
    RulesetName,
    Url,
    chosen_episodes,
    entrants,
    prices_of,
)
from rl_gym.cli.figures import difference_text, figures_table, interval_text
from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET

if TYPE_CHECKING:
    from rl_gym.gym.records import RecordedCompletion
    from rl_gym.iac.rulebook import Rulebook
    from rl_gym.serving.cost import Prices
    from rl_gym.serving.tables.bakeoff import Bakeoff, Sitting

__all__ = ["command"]


def command(
    models: Annotated[
        str, typer.Option("--models", help="With commas: sources of weights, names at --url, or NAME@URL.")
    ],
    anchor: Anchor = "dev",
    samples: Annotated[int, typer.Option("--samples", min=1, max=32, help="Sampled answers an episode.")] = 4,
    limit: Limit = None,
    max_tokens: MaxTokens = 512,
    temperature: Annotated[float, typer.Option("--temperature", help="Of the sampled answers.")] = 1.0,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**30, help="Of the sampled answers.")] = 0,
    rulebook: Annotated[
        bool, typer.Option("--rulebook", help="Ask each model again with the rulebook before every prompt.")
    ] = False,
    url: Url = None,
    gpu_hour: GpuHour = 0.0,
    prompt_million: PromptMillion = 0.0,
    completion_million: CompletionMillion = 0.0,
    ruleset: RulesetName = DEFAULT_RULESET,
    profile: ProfileName = DEFAULT_PROFILE,
    out: Annotated[Path | None, typer.Option("--out", help="A folder for records and figures.")] = None,
) -> None:
    """Print how each model does, sampled and greedy, with n and 95% intervals, and which one leads.

    The difference to the first model, and the lead, are paired over the same episodes.
    """
    from rl_gym.iac.environment import make
    from rl_gym.iac.rulebook import rulebook as book_of
    from rl_gym.infra.extras import extra

    with extra("audit"):
        from rl_gym.serving.tables.bakeoff import Sitting

    prices = prices_of(gpu_hour, prompt_million, completion_million)
    env = make(ruleset, profile)
    episodes = chosen_episodes(env, anchor, limit)
    sitting = Sitting(env, anchor, episodes, samples, max_tokens, temperature, seed)
    book = book_of(env.ruleset) if rulebook else None
    console = Console()
    found = asyncio.run(_ask(console, sitting, models, url, prices, book, out))
    console.print(_table(found, anchor))
    for line in _remarks(found):
        console.print(Text(line))
    if out is not None:
        console.print(Text(f"records and figures: {out}"))


async def _ask(
    console: Console,
    sitting: Sitting,
    models: str,
    url: str | None,
    prices: Prices,
    book: Rulebook | None,
    out: Path | None,
) -> Bakeoff:
    from rl_gym.gym.files import replace_text
    from rl_gym.gym.records import write
    from rl_gym.serving.tables.bakeoff import bakeoff

    def keep(records: list[RecordedCompletion]) -> None:
        if out is not None:
            write(out / "completions.jsonl", records)

    tasks: dict[str, TaskID] = {}
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:

        def progress(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(escape(name), total=total)
            bar.update(tasks[name], completed=done)

        async with entrants(models, url, prices) as named:
            found = await bakeoff(sitting, named, book=book, progress=progress, keep=keep)
    if out is not None:
        replace_text(out / "bakeoff.json", json.dumps(found.to_dict(), indent=2) + "\n")
    return found


def _table(found: Bakeoff, anchor: str) -> Table:
    table = figures_table(
        f"Bake-off on {anchor}: {found.rows[0].rung.episodes} episodes",
        "below each mean its 95% interval, clustered by episode; vs first: paired, sampled",
        ("model", "n", "sampled", "vs first", "greedy", "gate", "valid", "tokens", "cut", "s", "$"),
    )
    for row in found.rows:
        sampled, greedy = row.rung.sampled, row.rung.greedy
        table.add_row(
            Text(row.rung.policy),
            str(sampled.n) if sampled else "",
            interval_text(sampled.reward) if sampled else "",
            interval_text(row.over_first, sign="+") if row.over_first else "",
            interval_text(greedy.reward) if greedy else "",
            interval_text(sampled.gate_rate) if sampled else "",
            interval_text(sampled.valid_rate) if sampled else "",
            "" if math.isnan(row.tokens) else f"{row.tokens:.0f}",
            "" if math.isnan(row.truncated) else f"{row.truncated:.0%}",
            f"{row.seconds:.0f}",
            "" if row.usd is None else f"{row.usd:.2g}",
        )
    return table


def _remarks(found: Bakeoff) -> list[str]:
    """What the table has no room for."""
    lines = []
    for row in found.rows:
        name = row.rung.policy
        if row.unreadable:
            lines.append(f"{name}: {row.unreadable} prompts leave no room for an answer, and count as an empty one")
        if row.rung.missing:
            lines.append(f"{name}: {row.rung.missing} answers could not be judged, and are left out")
        if not row.reproducible:
            lines.append(f"{name}: its engine does not promise the same answers again")
    if lead := found.lead:
        verdict = "excludes 0" if lead.decided else "does not exclude 0: they are not told apart"
        lines.append(
            f"{lead.first} leads, over {lead.second} by {difference_text(lead.reward)}; the interval {verdict}"
        )
    return lines
