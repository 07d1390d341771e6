"""`rl-gym data`: get the public corpus that an anchor and training draw from, and make episodes of cloned modules."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from rl_gym.iac.corpora import IAC_EVAL_FILE, IAC_EVAL_URL, cache_folder, fetch_iac_eval, iac_eval_rows
from rl_gym.iac.mining.github import GITHUB_URL, GitHub
from rl_gym.infra.errors import UsageError
from rl_gym.infra.settings import load_settings

if TYPE_CHECKING:
    from rl_gym.iac.mining.mine import Mined

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Corpora, and episodes from cloned modules.")


@app.command()
def fetch(
    to: Annotated[
        Path | None, typer.Option("--to", help="A folder; else that of RL_GYM_DATA, else the cache of this user.")
    ] = None,
    url: Annotated[
        str, typer.Option("--url", envvar="RL_GYM_IAC_EVAL_URL", help="Where IaC-Eval is fetched from.")
    ] = IAC_EVAL_URL,
) -> None:
    """Fetch IaC-Eval (CC-BY-4.0, autoiac-project/iac-eval), which the anchor dev and training draw from.

    Kept only where it is, row for row, what the frozen splits were drawn from; nothing is fetched where it is there.
    """
    named = load_settings().data
    folder = to or named or cache_folder()
    path = folder / IAC_EVAL_FILE
    try:
        rows = iac_eval_rows(folder, fetch=False)
        done = "was there already"
    except UsageError:
        rows = fetch_iac_eval(folder, url)
        done = "fetched and checked"
    print(f"{path}: {done}, {len(rows)} rows (IaC-Eval, CC-BY-4.0, autoiac-project)")
    if to is not None and to != named:
        print(f"next: export RL_GYM_DATA={folder.resolve()}")


@app.command()
def mine(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Cloned repositories, or folders of them.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write; an earlier mining there is replaced.")],
    licence: Annotated[
        list[str] | None,
        typer.Option("--licence", help="An SPDX name that is allowed besides the permissive ones; may be repeated."),
    ] = None,
    holdout_share: Annotated[
        float, typer.Option("--holdout-share", help="The share of repositories that never train, 0 to 0.9.")
    ] = 0.1,
    longest: Annotated[
        int | None,
        typer.Option("--longest", help="The most characters of a reference (12000); a longer module only trains."),
    ] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Ask GitHub for the licence where the files do not tell.")
    ] = False,
    github_url: Annotated[
        str, typer.Option("--github-url", envvar="RL_GYM_GITHUB_URL", help="Address of GitHub's API.")
    ] = GITHUB_URL,
) -> None:
    """Make episodes of the Terraform modules in cloned repositories.

    Kept are modules under a permissive licence that build one to five types of AWS resources; none of an anchor. Some
    repositories are held out, as the split mined-holdout. The token for --github is read from RL_GYM_GITHUB_TOKEN or
    GITHUB_TOKEN.
    """
    from rl_gym.iac.mined import refuse_foreign, write_mined
    from rl_gym.iac.mining.mine import Options
    from rl_gym.iac.mining.mine import mine as mine_folders
    from rl_gym.iac.mining.modules import LONGEST

    options = Options(tuple(sorted(set(licence or ()))), holdout_share, LONGEST if longest is None else longest)
    refuse_foreign(out)
    token = os.environ.get("RL_GYM_GITHUB_TOKEN") or os.environ.get("GITHUB_TOKEN") or ""
    asked = GitHub(github_url, token.strip()) if github else None
    console = Console()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("repositories", total=None)
        mined = mine_folders(
            folders,
            options,
            github=asked,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    console.print(_table(mined))
    if not mined.train and not mined.holdout:
        raise UsageError("no module makes an episode, so that nothing is written: the table says why")
    write_mined(out, mined, options)
    console.print(Text(f"{out}: train with --set environment.options.mined={out.resolve()}"))


def _table(mined: Mined) -> Table:
    without = sum("reference" not in one.episode.data for one in mined.train)
    whole = sum(one.attribution.get("whole") is True for one in mined.train)
    table = Table(
        title=f"{mined.modules} modules in {mined.repositories} repositories",
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 1),
        show_header=False,
    )
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    table.add_row(str(len(mined.train)), Text("train", "bold"))
    table.add_row(str(without), Text("  of them without a reference", "dim"))
    table.add_row(str(whole), Text("  with one that Terraform would take as it stands", "dim"))
    table.add_row(str(len(mined.holdout)), Text("mined-holdout", "bold"))
    table.add_row(str(len(mined.skipped)), Text("skipped", "bold"))
    for reason, count in mined.reasons.items():
        table.add_row(str(count), Text(f"  {reason}", "dim"))
    return table
