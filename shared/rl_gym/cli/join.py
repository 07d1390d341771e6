"""`rl-gym join`: this machine trains with the one that a run was started on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["command"]


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Its folder, at the path where the first machine has it.")],
    rank: Annotated[int, typer.Option("--rank", help="Which of its other machines this is: 1, 2 and so on.")],
) -> None:
    """Take part in the training of a run with machine.machines above 1, until its last stage that trains has ended."""
    from rl_gym.training.join import join
    from rl_gym.training.run import Run

    join(Run.open(run), rank, print)
