"""`rl-gym env`: list environments, scaffold a new one, check that one conforms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rl_gym.infra.errors import RlGymError

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List, scaffold and check environments.")

MARKS = {True: "✓", False: "✗", None: "-"}
STYLES = {True: "green", False: "red", None: "dim"}


@app.command("list")
def list_environments() -> int:
    """List the environments that are installed, where each comes from, and whether it loads."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from rl_gym.gym import registry

    table = Table("environment", "from", "splits", box=None)
    broken = False
    for name in registry.available():
        try:
            env = registry.get_env(name)
            splits = Text(", ".join(getattr(env, "splits", ("train",))))
        except RlGymError as error:
            broken, splits = True, Text(str(error), style="red")
        table.add_row(Text(name), Text(registry.source(name)), splits)
    Console().print(table)
    return int(broken)


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="lower-case letters, digits, - and _")],
    folder: Annotated[Path, typer.Option("--dir", help="where to make the folder NAME")] = Path("."),
) -> int:
    """Write a small working environment to start from."""
    from rl_gym.gym.scaffold import scaffold

    path = scaffold(name, folder)
    print(f"wrote {path.parent.parent}: the environment is {path}")
    print(f"next: rl-gym env check {path}")
    return 0


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="a name, path/to/file.py[:factory] or package.module:factory")],
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="KEY=VALUE for its factory")] = None,
) -> int:
    """Ask an environment everything that rl-gym relies on; exit code 1 where something is broken."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from rl_gym.cli.recorded import key_values
    from rl_gym.gym import conformance, registry

    env = registry.resolve(name, **key_values("--option", option or []))
    results = conformance.check(env)
    table = Table("", "requirement", "", box=None, title=f"{env.name} ({env.reward.digest})", title_justify="left")
    for result in results:
        style = STYLES[result.passed]
        table.add_row(Text(MARKS[result.passed], style=style), Text(result.name), Text(result.detail, style=style))
    Console().print(table)
    kept, broken = (sum(result.passed is outcome for result in results) for outcome in (True, False))
    print(f"{kept} kept, {broken} broken, {len(results) - kept - broken} not measured")
    return int(broken > 0)
