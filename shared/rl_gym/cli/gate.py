"""`rl-gym gate`: whether a candidate may replace the incumbent. Exit code 0 PROMOTE, 2 BLOCK, 3 UNDECIDED."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rl_gym.cli.recorded import Evidence
    from rl_gym.gym.audit import AuditReport


def command(
    source: Annotated[Path, typer.Argument(help="a run folder or a file of recorded completions (JSON lines)")],
    candidate_source: Annotated[
        Path | None, typer.Argument(help="where the candidate's completions are, if not in the same place")
    ] = None,
    incumbent: Annotated[str, typer.Option(help="the policy to be replaced")] = "sft",
    candidate: Annotated[str, typer.Option(help="the policy to take its place")] = "grpo",
    tolerance: Annotated[float, typer.Option(help="loss of reward that still passes, in (0, 1]")] = 0.02,
    family_tolerance: Annotated[float, typer.Option(help="the same for each family of checks")] = 0.05,
    require: Annotated[list[str] | None, typer.Option(help="superiority=ANCHOR: demand a gain there")] = None,
    output: Annotated[
        Path | None, typer.Option(help="file for the verdict (a run keeps it as gate/verdict.json)")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the verdict as JSON")] = False,
) -> int:
    """Decide between two policies over the same episodes: PROMOTE, BLOCK or UNDECIDED, with reasons.

    The candidate of a run must have been audited (`rl-gym audit RUN`); completions from files are audited on the way.
    Exit code 0: PROMOTE; 2: BLOCK; 3: UNDECIDED.
    """
    from rl_gym.cli.recorded import read_evidence
    from rl_gym.gym.gate import decide, write_verdict
    from rl_gym.gym.pairing import select

    before = read_evidence(source)
    after = read_evidence(candidate_source) if candidate_source is not None else before
    verdict = decide(
        select(before.records, incumbent),
        select(after.records, candidate),
        tolerance=tolerance,
        family_tolerance=family_tolerance,
        require_superiority=_superiority(require or []),
        audit=_audit(before, after, incumbent, candidate),
        training_alarms=_training_alarms(after, candidate),
    )
    run = after.run
    if run is not None:
        with run.lock():
            run.clear("gate")
            write_verdict(run.stage("gate") / "verdict.json", verdict)
            run.seal("gate")
    if output is not None:
        write_verdict(output, verdict)
    if as_json:
        print(json.dumps(verdict.to_dict(), indent=2))
    else:
        from rich.console import Console

        Console().print(verdict.to_table())
        print(verdict.decision)
        print("\n".join(f"- {reason}" for reason in verdict.reasons))
    return verdict.exit_code


def _superiority(words: Sequence[str]) -> list[str]:
    anchors = []
    for word in words:
        what, _, anchor = word.partition("=")
        if what != "superiority" or not anchor:
            raise UsageError(f"--require {word!r}: superiority=ANCHOR is needed")
        anchors.append(anchor)
    return anchors


def _audit(before: Evidence, after: Evidence, incumbent: str, candidate: str) -> AuditReport:
    from rl_gym.gym.audit import audit, read_report
    from rl_gym.gym.pairing import select

    if after.run is not None:
        folder = after.run.folder
        if not after.run.stands("audit"):
            raise UsageError(f"{folder}: this run is not audited yet: rl-gym audit {folder}")
        return read_report(folder / "audit" / "report.json")
    if before is after:
        return audit(after.records, policy=candidate, baseline=incumbent)
    # Two files may call their policies alike; the baseline goes by the name of its role.
    baseline = [record.model_copy(update={"policy": "incumbent"}) for record in select(before.records, incumbent)]
    return audit([*baseline, *after.records], policy=candidate, baseline="incumbent")


def _training_alarms(evidence: Evidence, stage: str) -> list[str]:
    """Alarms of the training that made the candidate; none for a file, which has no log."""
    if evidence.run is None:
        return []
    from rl_gym.training.collapse import run_alarms

    return run_alarms(evidence.run, stage)
