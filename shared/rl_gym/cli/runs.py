"""`rl-gym runs`: the runs of a trainer, listed, watched, cancelled and tried again; and what two runs have found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rl_gym.cli.runs_compare import compare_runs
from rl_gym.cli.trainer_server import Server, server_of, trainer
from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from rl_gym.wire.run import RunState

__all__ = ["app"]

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Look at runs, and after those of a trainer.")
app.command("compare")(compare_runs)

RunName = Annotated[str, typer.Argument(metavar="RUN", help="the id of a run")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1_000, help="The latest so many.")]


@app.callback()
def _group() -> None:
    """Look at runs, and after those of a trainer."""


@app.command("list")
def list_runs(
    state: Annotated[
        str | None, typer.Option("--state", help="waiting, running, done, failed, cancelled or dead.")
    ] = None,
    limit: Limit = 20,
    server: Server = None,
) -> None:
    """Print the latest runs of a trainer, the newest first."""
    _list(_state(state), limit, server, nothing="no such runs" if state else "no runs yet")


@app.command("dead")
def dead_runs(limit: Limit = 100, server: Server = None) -> None:
    """Print the runs that failed as often as they may and wait for a person, with what they failed of."""
    _list("dead", limit, server, nothing="no run is dead")


@app.command("show")
def show_run(run: RunName, server: Server = None) -> None:
    """Print a run and its stages."""
    from rl_gym.cli.runs_tables import runs_table, stages_table

    with trainer(server_of(server)) as client:
        found = client.run(run)
    console = _console()
    console.print(runs_table([found]))
    for override in found.spec.overrides:
        console.print(f"  --set {override}", highlight=False, markup=False, soft_wrap=True)
    console.print()
    console.print(stages_table(found))


@app.command("watch")
def watch(run: RunName, server: Server = None) -> None:
    """Draw how far a run is until it has ended; Ctrl-C leaves it alone. Exit code 0 where it is done, else 1."""
    from rl_gym.cli.watching import require_done, watch_run

    console = _console()
    with trainer(server_of(server)) as client:
        ended = watch_run(console, client, client.run(run))
    require_done(ended)
    console.print(f"run {run} is done", highlight=False, markup=False)


@app.command("retry")
def retry_run(run: RunName, server: Server = None) -> None:
    """Try again what is dead or failed of a run."""
    with trainer(server_of(server)) as client:
        found = client.retry(run)
    _console().print(f"run {run} is {found.state} again", highlight=False, markup=False)


@app.command("cancel")
def cancel_run(run: RunName, server: Server = None) -> None:
    """Let nothing of a run begin any more; what it has done is kept."""
    with trainer(server_of(server)) as client:
        found = client.cancel(run)
    said = "is cancelled" if found.state == "cancelled" else "is cancelled as soon as its stage has stopped"
    _console().print(f"run {run} {said}", highlight=False, markup=False)


@app.command("log")
def print_log(
    run: RunName,
    stage: Annotated[str, typer.Argument(metavar="STAGE", help="a stage that has ended or failed")],
    server: Server = None,
) -> None:
    """Print the end of what the processes of a stage printed in its latest attempt."""
    from rl_gym.wire.run import LOG

    with trainer(server_of(server)) as client, client.file(run, stage, LOG) as parts:
        text = b"".join(parts).decode("utf-8", "replace")
    # What libraries and models print steers no terminal.
    typer.echo("".join(c if c.isprintable() or c in "\t\n" else " " for c in text), nl=False)


@app.command("models")
def models(limit: Limit = 20, server: Server = None) -> None:
    """Print the latest models that runs have made, with their lineage."""
    from rl_gym.cli.runs_tables import models_table

    with trainer(server_of(server)) as client:
        found = client.models(limit)
    _console().print(models_table(found) if found else "no models yet")


def _list(state: RunState | None, limit: int, server: str | None, *, nothing: str) -> None:
    from rl_gym.cli.runs_tables import runs_table

    with trainer(server_of(server)) as client:
        found = client.runs(state, limit)
    _console().print(runs_table(found) if found else nothing)


def _state(word: str | None) -> RunState | None:
    from pydantic import TypeAdapter, ValidationError

    from rl_gym.wire.run import RunState

    if word is None:
        return None
    try:
        state: RunState = TypeAdapter(RunState).validate_python(word)
    except ValidationError:
        raise UsageError(f"--state takes waiting, running, done, failed, cancelled or dead, not {word!r}") from None
    return state


def _console() -> Console:
    from rich.console import Console

    return Console()
