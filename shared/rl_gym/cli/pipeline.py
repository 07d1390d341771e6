"""`rl-gym pipeline`: the stages of a preset one after another, or the rest of them where a run stopped."""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rl_gym.cli.run_report import print_run
from rl_gym.cli.run_spec import run_spec
from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rl_gym.training.run import Run
    from rl_gym.wire.run import RunSpec

__all__ = ["command", "new_run", "run_at", "run_stages"]

_DEAREST = 1_000_000


def command(
    preset: Annotated[
        str | None,
        typer.Option("--preset", help="micro, nano (default), smol, granite-8b, qwen2.5-7b or multi-node."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="SOURCE", help="Train from this model.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of data, training and sampling.")] = None,
    run: Annotated[Path | None, typer.Option("--run", help="Folder of the new run (default: one below runs/).")] = None,
    changes: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a key.")] = None,
    report_to: Annotated[
        str | None, typer.Option("--report-to", metavar="NAME", help="Also report to wandb, tensorboard or trackio.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", help="pipeline (default), eval-only, bakeoff, mine, repair, flywheel or drift."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option("--server", metavar="URL", help="Have the trainer there run it; then fetch what it found."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="With --server: the same again under this key is the same run, not a second one."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run and what it takes; run nothing.")] = (
        False
    ),
    gpu_hour: Annotated[
        float | None, typer.Option("--gpu-hour", metavar="PRICE", help="Dollars an hour, for the plan's cost.")
    ] = None,
    form: Annotated[str | None, typer.Option("--format", help="Of the plan: text or json.")] = None,
    resume: Annotated[Path | None, typer.Option("--resume", metavar="RUN", help="Go on with this run.")] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="STAGE", help="The last stage (default: all but promote, a flywheel's too)."),
    ] = None,
) -> None:
    """Run the stages of a mode: prepare, sft, grpo, evaluate, audit and gate; print the ladder, audit and verdict.

    Exit code 0 when every stage ran, whatever the verdict; `rl-gym gate` turns a verdict into an exit code. With
    --server a trainer runs them all, promote too, and Ctrl-C leaves the run alone. With --dry-run, print the stages,
    their memory, time and cost, and what is wanting here; exit code 0, ready or not.
    """
    made = (preset, model, report_to, run, changes, seed, mode, server, key)
    if resume is not None and any(option is not None for option in made):
        raise UsageError(
            "--resume goes on with what the run was made with: leave --preset, --model, --report-to, --seed, --run, "
            "--mode, --server, --key and --set out"
        )
    if server is not None and (dry_run or until is not None):
        raise UsageError("--server has a trainer run all stages: leave --dry-run and --until out")
    if key is not None and server is None:
        raise UsageError("--key is for a run at a trainer: name it by --server")
    spec = run_spec(preset or "nano", changes or (), seed=seed, mode=mode, model=model, report_to=report_to, key=key)
    console = Console()
    if dry_run:
        if resume is not None or run is not None:
            raise UsageError("--dry-run plans a new run, without a folder: leave --resume and --run out")
        _print_plan(console, spec, gpu_hour, form or "text")
        return
    if gpu_hour is not None or form is not None:
        raise UsageError("--gpu-hour and --format are about the plan that --dry-run prints")
    if server is not None:
        print_run(console, run_at(console, server, spec, run))
        return
    if resume is not None:
        from rl_gym.training.run import Run

        chosen = Run.open(resume)
    else:
        chosen = new_run(spec, folder=run, until=until)
    run_stages(console, chosen, until=until)
    print_run(console, chosen)


def new_run(spec: RunSpec, *, folder: Path | None = None, until: str | None = None) -> Run:
    """Resolve a spec and make the folder of a run here; below `RL_GYM_RUNS` where no folder is named.

    Raises UsageError, before any compute, for a run that cannot end well here; `until` is its last stage.
    """
    from rl_gym.infra.settings import load_settings
    from rl_gym.training.config import resolve
    from rl_gym.training.plan import make_plan, require_ready
    from rl_gym.training.stages import start

    config = resolve(spec.preset, spec.overrides, seed=spec.seed, mode=spec.mode)
    settings = load_settings()
    require_ready(make_plan(config, settings))
    now = datetime.now()
    name = f"{config.preset}-seed{config.seed}-{now:%Y%m%d-%H%M%S}"
    return start(config, folder or settings.runs / name, now=now, until=until)


def run_at(console: Console, server: str, spec: RunSpec, folder: Path | None = None) -> Run:
    """Have a trainer run a spec, watch it, and fetch what it found; below `RL_GYM_RUNS` where no folder is named.

    Raises ConflictError, before it is submitted, where another run lies in the folder; UsageError and
    InfrastructureError with what a run failed of, where it did not get to its end.
    """
    from rl_gym.cli.run_artifacts import fetch_run, require_place
    from rl_gym.cli.trainer_server import trainer
    from rl_gym.cli.watching import require_done, watch_run
    from rl_gym.infra.settings import load_settings

    with trainer(server) as client:
        if folder is not None:
            require_place(client, folder, spec.idempotency_key)
        # Under some key in any case: then a call that got no answer can be repeated.
        keyed = spec if spec.idempotency_key else spec.model_copy(update={"idempotency_key": uuid.uuid4().hex})
        run = client.submit(keyed)
        console.print(f"run {run.id} at {server}", highlight=False, markup=False)
        ended = watch_run(console, client, run)
        require_done(ended)
        return fetch_run(client, ended, folder or load_settings().runs / run.id)


def _print_plan(console: Console, spec: RunSpec, price: float | None, form: str) -> None:
    from rl_gym.cli.pipeline_plan import print_plan
    from rl_gym.training.config import resolve
    from rl_gym.training.plan import make_plan

    if form not in ("text", "json"):
        raise UsageError(f"--format takes text or json, not {form!r}")
    if price is not None and not 0 <= price < _DEAREST:
        raise UsageError(f"--gpu-hour takes dollars an hour from 0 to {_DEAREST}, not {price}")
    plan = make_plan(resolve(spec.preset, spec.overrides, seed=spec.seed, mode=spec.mode), price=price)
    if form == "json":
        print(json.dumps(plan.to_dict(), indent=2))
    else:
        print_plan(console, plan)


def run_stages(console: Console, run: Run, *, until: str | None = None) -> None:
    """Run the stages that have not ended yet, under one progress bar; what leads out of the folder is lent to them."""
    from rl_gym.training.local import local_means
    from rl_gym.training.progress import RunProgress
    from rl_gym.training.stages import efforts, execute, last_by_default
    from rl_gym.training.stages.preflight import require_stages

    last = until or last_by_default(run.config)
    require_stages(run.config, last)
    leads_out = run.config.mode in ("flywheel", "bakeoff") or run.config.evaluate.through == "policy"
    means = local_means() if leads_out or last == "promote" else None
    with RunProgress(console, efforts(run.config)) as progress:
        execute(run, progress, means, until=until)
