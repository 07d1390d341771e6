"""`rl-gym baseline`: recorded answers of an outside model judged offline, and its price beside that of a GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from rl_gym.cli.figures import difference_text, figures_table, interval_text
from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rl_gym.serving.tables.baseline import TokenPrices
    from rl_gym.serving.tables.baseline_score import Baseline

__all__ = ["app"]

ANCHOR = "dev"
_NAMED_MISSING = 8

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="An outside model on the episodes of dev: its prompts, and its recorded answers judged offline.",
)


@app.command()
def score(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of epN.md and manifest.json, or of several such folders.")
    ],
    ruleset: Annotated[str, typer.Option("--ruleset", help="What is asked for.")] = DEFAULT_RULESET,
    profile: Annotated[str, typer.Option("--profile", help="How it is rewarded.")] = DEFAULT_PROFILE,
    prompt_million: Annotated[
        float | None, typer.Option("--prompt-million", help="US dollars a million tokens, for the manifest's.")
    ] = None,
    completion_million: Annotated[
        float | None, typer.Option("--completion-million", help="US dollars a million tokens, for the manifest's.")
    ] = None,
    gpu_hour: Annotated[
        float | None, typer.Option("--gpu-hour", help="US dollars an hour of a GPU of one's own: for the break-even.")
    ] = None,
    own_requests: Annotated[
        float | None,
        typer.Option("--own-requests-per-hour", help="What that GPU can answer: whether it reaches the break-even."),
    ] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write the whole as one page of HTML.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A folder for records and figures.")] = None,
) -> None:
    """Judge recorded completions and print reward, gate rate, valid rate and full passes, with n and 95% intervals.

    Where a model was asked both ways, also what the rulebook adds, paired over the episodes that both folders answer.
    """
    from rl_gym.gym.files import replace_text
    from rl_gym.iac.anchors import frozen
    from rl_gym.iac.environment import make
    from rl_gym.infra.extras import extra

    with extra("audit"):
        from rl_gym.serving.tables.baseline import read_baselines
        from rl_gym.serving.tables.baseline_page import above, baseline_page, break_evens
        from rl_gym.serving.tables.baseline_score import score_baselines
        from rl_gym.serving.tables.break_even import break_even

    if own_requests is not None and gpu_hour is None:
        raise UsageError("--own-requests-per-hour is of the GPU whose price --gpu-hour tells")
    if gpu_hour is not None:
        # Refused before the answers are judged, which takes a while.
        break_even(gpu_hour, 0.0, own_requests)
    prices = _prices(prompt_million, completion_million)
    recorded = read_baselines(folder, len(frozen(ANCHOR).episodes))
    env = make(ruleset, profile)
    console = Console()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("judged", total=None)
        found = score_baselines(
            env,
            ANCHOR,
            recorded,
            prices=prices,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    evens = [] if gpu_hour is None else break_evens(found, gpu_hour, own_requests)
    # Before anything is printed: whoever reads that may leave early.
    if out is not None:
        _keep(out, found)
    if page is not None:
        replace_text(page, baseline_page(found, evens))
    _print(console, found)
    for name, even in evens:
        console.print(Text(f"a GPU of one's own is cheaper than {name}: {above(even)}"))
    if gpu_hour is not None and not evens:
        console.print("no break-even: no manifest has prices, and --prompt-million is not given")
    if page is not None:
        console.print(Text(f"page: {page}"))


@app.command()
def prompts(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder, or an empty one.")],
    rulebook: Annotated[bool, typer.Option("--rulebook", help="With the rulebook before each prompt.")] = False,
    ruleset: Annotated[str, typer.Option("--ruleset", help="Of the rulebook.")] = DEFAULT_RULESET,
) -> None:
    """Write the prompt of every episode to DIR/epN.txt, to be answered into epN.md: what a recorded model is asked."""
    from rl_gym.gym.files import replace_text
    from rl_gym.iac.environment import make
    from rl_gym.iac.rulebook import rulebook as book_of
    from rl_gym.iac.rulebook import with_rulebook

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: not an empty folder; name a new one")
    env = make(ruleset)
    book = book_of(env.ruleset) if rulebook else None
    episodes = env.episodes(ANCHOR)
    for number, episode in enumerate(episodes):
        prompt = env.prompt(episode)
        replace_text(folder / f"ep{number}.txt", with_rulebook(prompt, book) if book else prompt)
    Console().print(Text(f"{len(episodes)} prompts in {folder}"))


def _prices(prompt_million: float | None, completion_million: float | None) -> TokenPrices | None:
    from rl_gym.serving.tables.baseline import TokenPrices
    from rl_gym.wire.message import refusal

    if prompt_million is None and completion_million is None:
        return None
    if prompt_million is None or completion_million is None:
        raise UsageError("--prompt-million and --completion-million are given together")
    try:
        return TokenPrices(prompt_million=prompt_million, completion_million=completion_million)
    except ValidationError as error:
        raise UsageError(f"prices: {refusal(error)}") from None


def _print(console: Console, found: Baseline) -> None:
    table = figures_table(
        f"Recorded on {found.anchor}: {found.episodes} episodes, digest {found.digest}",
        "below each mean its 95% interval; full: answers of reward 1; $: of a request",
        ("model", "n", "reward", "gate rate", "valid rate", "full", "$"),
    )
    for row in found.rows:
        figures = (interval_text(value) for value in (row.reward, row.gate_rate, row.valid_rate, row.full))
        table.add_row(Text(row.name), str(row.n), *figures, "" if row.usd is None else f"{row.usd:.4g}")
    console.print(table)
    for row in found.rows:
        if row.missing:
            named = ", ".join(f"ep{number}" for number in row.missing[:_NAMED_MISSING])
            more = ", ..." if len(row.missing) > _NAMED_MISSING else ""
            console.print(Text(f"{row.name}: {len(row.missing)} episodes are not recorded: {named}{more}"))
    for one in found.comparisons:
        reward, full = difference_text(one.reward), difference_text(one.full)
        pairs = f"{one.reward.n} common episodes"
        console.print(Text(f"{one.model}: the rulebook adds {reward} of reward and {full} of full passes ({pairs})"))


def _keep(folder: Path, found: Baseline) -> None:
    from rl_gym.gym.files import replace_text
    from rl_gym.gym.records import write

    write(folder / "completions.jsonl", found.records)
    replace_text(folder / "baseline.json", json.dumps(found.to_dict(), indent=2) + "\n")
