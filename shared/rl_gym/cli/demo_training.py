"""The demonstration that trains: a scan to begin with, the ladder with audit and gate, then the new model at work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from rl_gym.cli.answers import show_answers
from rl_gym.cli.demo_canned import canned_episodes

__all__ = ["demonstrate"]

_REQUEST, _REQUIRED = "a postgres database called zephyr-orders, 50 GB, user app", ("aws_db_instance",)
"""What the new model is asked at the end: a name that training never saw."""


def demonstrate(
    console: Console, preset: str, changes: Sequence[str], *, seed: int, folder: Path | None = None
) -> None:
    """Show what the verifier sees, train a model against it, print what the run found, and let the model answer."""
    from rl_gym.infra.extras import extra

    console.rule("[bold]1. The verifier judges a configuration", align="left")
    shown = canned_episodes()[0]
    show_answers(console, shown.request, shown.required, shown.answers[:1])

    with extra("train"):
        from rl_gym.cli.demo_request import answer_request
        from rl_gym.cli.pipeline import new_run, run_stages
        from rl_gym.cli.run_report import print_run
        from rl_gym.cli.run_spec import run_spec

    run = new_run(run_spec(preset, changes, seed=seed), folder=folder)
    console.rule("[bold]2. Its judgement trains a model: SFT, then GRPO", align="left")
    run_stages(console, run)
    console.rule("[bold]3. How far it came, and whether that is real", align="left")
    print_run(console, run)
    console.rule("[bold]4. The trained model writes", align="left")
    answer_request(console, _REQUEST, _REQUIRED, run.folder)
    console.print(f"\nthe files of this run: {run.folder}/", highlight=False)
    console.print('your own request: rl-gym demo --req "an S3 bucket called atlas-media"', highlight=False)
