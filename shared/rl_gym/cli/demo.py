"""`rl-gym demo`: the whole ladder on this machine, or Terraform for one request with its scorecards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rl_gym.infra.errors import UsageError

__all__ = ["command"]


def command(
    train: Annotated[bool, typer.Option("--train", help="Train, audit and gate the nano model, then use it.")] = False,
    req: Annotated[str | None, typer.Option("--req", "--request", help="Write Terraform for this request.")] = None,
    required: Annotated[
        str | None, typer.Option("--required", help="With --req: the types to build, aws_s3_bucket,aws_kms_key.")
    ] = None,
    canned: Annotated[bool, typer.Option("--canned", help="Show a recorded episode; needs no model.")] = False,
    episode: Annotated[int, typer.Option("--episode", help="With --canned: which one, from 1.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="With --train: seed of data, training and sampling.")] = 0,
    preset: Annotated[str, typer.Option("--preset", help="With --train: nano, or micro for a quick look.")] = "nano",
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="With --train: change a key of the preset.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option("--run", help="With --train: folder of the new run; with --req: whose model answers.")
    ] = None,
) -> None:
    """Three demonstrations: --train, --req TEXT, or --canned.

    Exit code 0 when every stage ran, whatever the gate's verdict.
    """
    if (train, req is not None, canned).count(True) != 1:
        raise UsageError('choose one: `demo --train`, `demo --req "a private bucket"` or `demo --canned --episode 3`')
    console = Console()
    if train:
        from rl_gym.cli.demo_training import demonstrate

        demonstrate(console, preset, changes or (), seed=seed, folder=run)
    elif req is not None:
        from rl_gym.cli.demo_request import answer_request

        answer_request(console, req, _types(required), run)
    else:
        from rl_gym.cli.demo_canned import show_canned

        show_canned(console, episode)


def _types(required: str | None) -> tuple[str, ...]:
    names = [name.strip() for name in (required or "").split(",")]
    return tuple(name for name in names if name)
