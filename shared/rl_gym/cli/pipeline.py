"""`rl-gym pipeline`: the stages of a preset one after another, or the rest of them where a run stopped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rl_gym.cli.run_report import print_run
from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rl_gym.training.run import Run

__all__ = ["command", "new_run", "run_stages"]


def command(
    preset: Annotated[str | None, typer.Option("--preset", help="What to run: micro or nano (default).")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of data, training and sampling.")] = None,
    run: Annotated[Path | None, typer.Option("--run", help="Folder of the new run (default: one below runs/).")] = None,
    changes: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a key.")] = None,
    resume: Annotated[Path | None, typer.Option("--resume", metavar="RUN", help="Go on with this run.")] = None,
    until: Annotated[str, typer.Option("--until", metavar="STAGE", help="The last stage to run.")] = "gate",
) -> None:
    """Run prepare, sft, grpo, evaluate, audit and gate; print the ladder, the audit and the verdict.

    Exit code 0 when every stage ran, whatever the verdict; `rl-gym gate` turns a verdict into an exit code.
    """
    if resume is not None and (preset or run or changes or seed is not None):
        raise UsageError("--resume goes on with what the run was made with: leave --preset, --seed, --run, --set out")
    console = Console()
    if resume is not None:
        from rl_gym.training.run import Run

        chosen = Run.open(resume)
    else:
        chosen = new_run(preset or "nano", changes or (), seed=seed, folder=run)
    run_stages(console, chosen, until=until)
    print_run(console, chosen)


def new_run(preset: str, changes: Sequence[str], *, seed: int | None, folder: Path | None = None) -> Run:
    """Resolve a preset and make the folder of a run; below `RL_GYM_RUNS` where no folder is named."""
    from rl_gym.infra.settings import load_settings
    from rl_gym.training.config import resolve
    from rl_gym.training.stages import start

    config = resolve(preset, changes, seed=seed)
    now = datetime.now()
    name = f"{config.preset}-seed{config.seed}-{now:%Y%m%d-%H%M%S}"
    return start(config, folder or load_settings().runs / name, now=now)


def run_stages(console: Console, run: Run, *, until: str = "gate") -> None:
    """Run the stages that have not ended yet, under one progress bar."""
    from rl_gym.training.progress import RunProgress
    from rl_gym.training.run import STAGES
    from rl_gym.training.stages import efforts, execute

    if until not in STAGES:
        raise UsageError(f"there is no stage {until!r}: choose one of {', '.join(STAGES)}")
    with RunProgress(console, efforts(run.config)) as progress:
        execute(run, progress, until=until)
