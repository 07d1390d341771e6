"""`rl-gym serve-table`: what n samples and a repair turn add to a served model, and what they cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
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
from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rl_gym.gym.core import Episode
    from rl_gym.iac.standard import Standard
    from rl_gym.serving.cost import Prices
    from rl_gym.serving.loop import Plan
    from rl_gym.serving.tables.serve_table import ServeTable

__all__ = ["command"]


def command(
    model: Annotated[str, typer.Option("--model", help="A source of weights, a name at --url, or NAME@URL.")],
    anchor: Anchor = "dev",
    samples: Annotated[int, typer.Option("--samples", min=2, max=32, help="The n of best-of-n.")] = 4,
    limit: Limit = None,
    max_tokens: MaxTokens = 512,
    temperature: Annotated[float, typer.Option("--temperature", help="Of the samples, as when serving.")] = 0.8,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**30, help="Of the samples.")] = 0,
    url: Url = None,
    gpu_hour: GpuHour = 0.0,
    prompt_million: PromptMillion = 0.0,
    completion_million: CompletionMillion = 0.0,
    ruleset: RulesetName = DEFAULT_RULESET,
    profile: ProfileName = DEFAULT_PROFILE,
    out: Annotated[Path | None, typer.Option("--out", help="A folder for the figures.")] = None,
) -> None:
    """Print pass@1 and best-of-n, without and with a repair turn: reward and full passes with n and 95% intervals.

    All four come from one set of samples that goes through the served loop. pass@1 is the mean over the n samples of an
    episode, best-of-n the one that the verifier likes best; +repair is the better of that and what one repair turn
    makes of it. Every sample with something to mend is repaired once.
    """
    from rl_gym.gym.files import replace_text
    from rl_gym.iac.standard import Standard
    from rl_gym.infra.extras import extra
    from rl_gym.serving.loop import Plan

    if "," in model:
        raise UsageError(f"--model takes one model, not {model!r}")
    with extra("audit"):
        from rl_gym.serving.tables import serve_table  # noqa: F401

    prices = prices_of(gpu_hour, prompt_million, completion_million)
    standard = Standard(ruleset=ruleset, profile=profile)
    episodes = chosen_episodes(standard.make(), anchor, limit)
    plan = Plan(
        "best-of-n+repair", samples, seed=seed, max_tokens=max_tokens, temperature=temperature, seconds=_SECONDS
    )
    plan.first()
    console = Console()
    found = asyncio.run(_ask(console, model, url, prices, standard, episodes, plan))
    console.print(_table(found, anchor))
    for line in _remarks(found):
        console.print(Text(line))
    if out is not None:
        replace_text(out / "serve-table.json", json.dumps(found.to_dict(), indent=2) + "\n")
        console.print(Text(f"figures: {out / 'serve-table.json'}"))


_SECONDS = 1_800.0
"""Of an episode: on a CPU all repair turns of all episodes under way wait for each other."""


async def _ask(
    console: Console,
    model: str,
    url: str | None,
    prices: Prices,
    standard: Standard,
    episodes: Sequence[Episode],
    plan: Plan,
) -> ServeTable:
    from rl_gym.serving.judges import LocalJudge
    from rl_gym.serving.tables.serve_table import serve_table

    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(escape(model), total=len(episodes))
        async with entrants(model, url, prices) as [entrant]:
            return await serve_table(
                entrant,
                LocalJudge(),
                standard,
                episodes,
                plan,
                progress=lambda done, _: bar.update(task, completed=done),
            )


def _table(found: ServeTable, anchor: str) -> Table:
    table = figures_table(
        f"{found.name} on {anchor}: {found.episodes} episodes, {found.samples} samples each",
        "below each mean its 95% interval, clustered by episode;\n"
        "full: answers of reward 1; tokens and $: of a request, all turns",
        ("mode", "n", "reward", "full", "prompt tokens", "tokens", "$"),
    )
    for cell in found.cells:
        table.add_row(
            cell.mode,
            str(cell.n),
            interval_text(cell.reward),
            interval_text(cell.full),
            f"{cell.prompt_tokens:.0f}",
            f"{cell.completion_tokens:.0f}",
            "" if cell.usd is None else f"{cell.usd:.2g}",
        )
    return table


def _remarks(found: ServeTable) -> Iterator[str]:
    """What repair did, how far best-of-n is above pass@1, and what else the table has no room for."""
    for one in found.repairs:
        yield (
            f"{one.mode}: {one.attempts} attempts on {one.due} answers with something to mend, "
            f"{one.conversions} conversions, {one.improved} improved; reward {difference_text(one.gain)}"
        )
        if one.does_not_fit or one.failed:
            yield f"{one.mode}: {one.does_not_fit} turns did not fit, {one.failed} met a fault of ours"
    yield f"best-of-n over pass@1: {difference_text(found.gap)}; with repair {difference_text(found.gap_with_repair)}"
    if found.unreadable:
        yield f"{found.unreadable} prompts leave no room for an answer, and count as an empty one"
    if not found.reproducible:
        yield "the engine does not promise the same answers again"
