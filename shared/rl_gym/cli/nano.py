"""`rl-gym nano`: the nano model's tokenizer and base from nothing, and a run's model made small enough to ship."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from rl_gym.infra.errors import UsageError

__all__ = ["app"]

app = typer.Typer(add_completion=False, no_args_is_help=True, help="The nano model: a million weights, made here.")


@app.command()
def build(
    output: Annotated[Path, typer.Option("--out", help="Folder of the model; its content is replaced.")],
    seed: Annotated[int, typer.Option("--seed", help="Decides every weight, on one machine.")] = 0,
    steps: Annotated[int | None, typer.Option("--steps", min=1, max=100_000, help="Fewer teach less.")] = None,
) -> None:
    """Train the tokenizer and the base that the ladder starts from, and print the digest of the result.

    The packaged base was made by `rl-gym nano build --out FOLDER`. Its `build.json` holds recipe and digest.
    """
    _refuse_foreign(output)
    from rl_gym.infra.extras import extra

    with extra("train"):
        from rl_gym.training.nano import Recipe, build

    recipe = Recipe(seed=seed) if steps is None else Recipe(seed=seed, steps=steps)
    console = Console()
    with Progress(console=console) as bar:
        task = bar.add_task("base", total=recipe.steps)

        def progress(step: int, total: int, loss: float) -> None:
            bar.update(task, completed=step, description=f"base, loss {loss:.3f}")

        digest = build(output, recipe, progress=progress)
    console.print(f"{output}: {digest}", highlight=False)


@app.command()
def pack(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder whose GRPO has ended.")],
    output: Annotated[Path, typer.Option("--out", help="Folder of the model; its content is replaced.")],
) -> None:
    """Copy a run's GRPO model in half precision, with a record of its origin: so the packaged one was made."""
    _refuse_foreign(output)
    from rl_gym.infra.extras import extra

    with extra("train"):
        from rl_gym.training.nano import pack
        from rl_gym.training.run import Run

    Console().print(f"{output}: {pack(Run.open(run), output)}", highlight=False)


def _refuse_foreign(output: Path) -> None:
    """Only the folder of an earlier model is overwritten."""
    if output.exists() and not (output / "build.json").exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output} is no folder of a nano model, and not empty: name another")
