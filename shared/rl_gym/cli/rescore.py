"""`rl-gym rescore`: recorded completions judged again, by any ruleset and reward profile, without a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from rl_gym.cli.recorded import Evidence
    from rl_gym.gym.core import Environment, Episode
    from rl_gym.gym.rescoring import Rescored

__all__ = ["command"]


def command(
    source: Annotated[Path, typer.Argument(help="a run folder or a file of recorded completions (JSON lines)")],
    ruleset: Annotated[str | None, typer.Option(help="the ruleset to judge by (default: the run's)")] = None,
    profile: Annotated[str | None, typer.Option(help="the reward profile to judge by (default: the run's)")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="KEY=VALUE for the environment")] = None,
    output: Annotated[
        Path | None, typer.Option(help="file for the new records (default: beside those that were read)")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print both ladders and the changes as JSON")] = False,
) -> None:
    """Score recorded completions again and print the ladder before and after, with paired differences.

    The recorded ones stay as they are. Scores by different rewards measure different things: compare policies within
    one ladder; a change from one to the other tells where the rewards disagree, not who got better.
    """
    from rich.console import Console

    from rl_gym.cli.recorded import key_values, read_evidence
    from rl_gym.gym import records
    from rl_gym.gym.rescoring import rescore

    evidence = read_evidence(source)
    named = {name: value for name, value in (("ruleset", ruleset), ("profile", profile)) if value is not None}
    given = named | key_values("--option", option or [])
    if not given:
        raise UsageError("name what to judge by: --ruleset, --profile, or --option KEY=VALUE")
    path = output or _beside(source, given)
    if path.resolve() == source.resolve():
        raise UsageError(f"{path} holds the records that were read: name another file by --output")
    env = _environment(evidence, given)
    rescored = rescore(env, evidence.records, _episodes(evidence, env))
    records.write(path, rescored.after)
    if as_json:
        print(json.dumps(rescored.to_dict() | {"records": str(path)}, indent=2))
    else:
        _show(Console(), rescored, path)


def _environment(evidence: Evidence, given: Mapping[str, str]) -> Environment:
    """The environment that judged the records, with these of its options changed."""
    from rl_gym.gym.registry import resolve

    if evidence.run is None:
        return resolve(evidence.records[0].environment, **given)
    section = evidence.run.config.environment
    return resolve(section.name, **{**section.options, **given})


def _episodes(evidence: Evidence, env: Environment) -> dict[str, Episode]:
    """The records' episodes by content hash: as the run keeps them, else from the environment's splits."""
    from rl_gym.gym.core import Episode

    held_out = evidence.run.folder / "prepare" / "held_out.jsonl" if evidence.run else None
    if held_out is not None and held_out.exists():
        from rl_gym.training.files import read_rows

        episodes = [Episode.from_dict(row) for row in read_rows(held_out)]
    else:
        splits = dict.fromkeys(record.split for record in evidence.records)
        episodes = [episode for split in splits for episode in env.episodes(split)]
    return {episode.hash: episode for episode in episodes}


def _beside(source: Path, given: Mapping[str, str]) -> Path:
    name = "-".join(given.values()).replace("/", "-")
    return source / "rescored" / f"{name}.jsonl" if source.is_dir() else source.with_name(f"{source.stem}-{name}.jsonl")


def _show(console: Console, rescored: Rescored, path: Path) -> None:
    from rl_gym.cli.run_report import ladder_table
    from rl_gym.gym.ladder import lifts

    sides = zip(("before", "after"), rescored.judges, rescored.ladders, strict=True)
    for (when, judge, rows), own in zip(sides, (rescored.before, rescored.after), strict=True):
        table = ladder_table(rows, lifts(own))
        table.title = f"{when}, judged by {judge}"
        console.print(table)
        console.print()
    console.print(_changes(rescored))
    console.print(rescored.caution, highlight=False, markup=False)
    console.print(f"records: {path}", highlight=False, markup=False)


def _changes(rescored: Rescored) -> Table:
    from rich.table import Table

    from rl_gym.cli.figures import interval_text

    table = Table(title="after - before, sampled reward", title_justify="left", box=None, pad_edge=False)
    for column in ("anchor", "policy", "change", "episodes"):
        table.add_column(column, justify="left" if column in ("anchor", "policy") else "right")
    for change in rescored.changes:
        table.add_row(change.split, change.policy, interval_text(change.reward, sign="+"), str(change.reward.n))
    return table
