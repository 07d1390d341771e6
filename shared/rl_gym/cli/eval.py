"""`rl-gym eval`: policies on the held-out episodes of a run, or on a whole anchor under any reward profile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from rl_gym.cli.run_report import ladder_table
from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rl_gym.gym.records import RecordedCompletion
    from rl_gym.training.anchors import ModelPolicy
    from rl_gym.training.run import Run

__all__ = ["command"]

_JUDGES = ("seed@1/seed18", "default@2/base")
_SAMPLES = 4
_MAX_TOKENS = 512


def command(
    run: Annotated[Path | None, typer.Argument(metavar="[RUN]", help="A run folder.")] = None,
    anchor: Annotated[str | None, typer.Option("--anchor", help="dev, synthetic, holdout or mined-holdout.")] = None,
    mined: Annotated[
        Path | None, typer.Option("--mined", metavar="FOLDER", help="What `rl-gym data mine` made, for mined-holdout.")
    ] = None,
    policies: Annotated[
        str, typer.Option("--policies", help="With --anchor: random, reference, nano, base, or any model's source.")
    ] = "random,reference,nano",
    judges: Annotated[
        list[str] | None, typer.Option("--judge", metavar="PROFILE/RULESET", help="With --anchor; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="With --anchor: seed of the models' samples.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="With --anchor: a folder for the records.")] = None,
) -> None:
    """Print reward, gate rate and valid rate of each policy, sampled and greedy, with n and 95% intervals.

    With RUN alone: the evaluation of that run, made first where it is still missing. With --anchor: the policies named,
    `nano` being the GRPO model of RUN, else of the last run, else the packaged one.
    """
    from rl_gym.infra.extras import extra

    console = Console()
    with extra("train"):
        from rl_gym.training.run import Run

    chosen = Run.open(run) if run else None
    if anchor is not None:
        _on_anchor(console, anchor, policies.split(","), judges or _JUDGES, seed, out, chosen, mined)
    elif chosen is not None:
        _in_run(console, chosen)
    else:
        raise UsageError("name a run folder, or an anchor: `rl-gym eval RUN` or `rl-gym eval --anchor dev`")


def _in_run(console: Console, run: Run) -> None:
    from rl_gym.cli.pipeline import run_stages
    from rl_gym.gym.ladder import ladder, lifts
    from rl_gym.gym.records import read

    run_stages(console, run, until="evaluate")
    records = read(run.folder / "evaluate" / "completions.jsonl")
    console.print(ladder_table(ladder(records), lifts(records)))


def _on_anchor(
    console: Console,
    anchor: str,
    names: Sequence[str],
    judges: Sequence[str],
    seed: int,
    out: Path | None,
    run: Run | None,
    mined: Path | None,
) -> None:
    from rl_gym.gym.ladder import ladder, lifts
    from rl_gym.gym.records import write
    from rl_gym.gym.registry import get_env
    from rl_gym.iac.mined import HOLDOUT
    from rl_gym.training.anchors import evaluate_anchor

    if (anchor == HOLDOUT) != (mined is not None):
        raise UsageError(
            f"--anchor {HOLDOUT} and --mined go together: name the folder that `rl-gym data mine DIR --out FOLDER` made"
        )
    pairs = [_judge(text) for text in judges]
    options = {} if mined is None else {"mined": mined}
    envs = [get_env("iac", profile=profile, ruleset=ruleset, **options) for profile, ruleset in pairs]
    episodes = envs[0].episodes(anchor)
    policies = [_policy(name.strip(), run, seed) for name in names]
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks = {
            policy.name: bar.add_task(policy.name, total=2 * len(episodes))
            for policy in policies
            if not isinstance(policy, str)
        }
        recorded: list[list[RecordedCompletion]] = evaluate_anchor(
            envs,
            anchor,
            policies,
            samples=_SAMPLES,
            max_tokens=_MAX_TOKENS,
            seed=seed,
            progress=lambda name, count: bar.advance(tasks[name], count),
        )
    for judge, records in zip(judges, recorded, strict=True):
        table = ladder_table(ladder(records), lifts(records))
        table.title = f"{anchor} under {judge}: {len(episodes)} episodes"
        console.print(table)
        if out is not None:
            path = out / f"{anchor}-{judge.replace('/', '-')}.jsonl"
            write(path, records)
            console.print(f"records: {path}", highlight=False)


def _judge(text: str) -> tuple[str, str]:
    profile, separator, ruleset = text.partition("/")
    if not separator:
        raise UsageError(f"--judge takes PROFILE/RULESET, such as {_JUDGES[0]}, not {text!r}")
    return profile, ruleset


def _policy(name: str, run: Run | None, seed: int) -> str | ModelPolicy:
    from rl_gym.infra.digests import tree_digest
    from rl_gym.infra.settings import load_settings
    from rl_gym.serving.local_model import LocalModel
    from rl_gym.serving.weights import find_model
    from rl_gym.training.anchors import REFERENCES, ModelPolicy
    from rl_gym.training.determinism import pin
    from rl_gym.training.models import TRAINED, trained_model

    if name in REFERENCES:
        return name
    pin(seed, threads=1)
    if name in (TRAINED, "base"):
        trained = trained_model(load_settings().runs, run=run)
        folder = trained.folder if name == TRAINED else trained.base
    else:
        folder = find_model(name)
    return ModelPolicy(name, LocalModel(folder), tree_digest(folder))
