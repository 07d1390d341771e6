"""`rl-gym audit`: how a reward went up, from recorded completions. Exit code 0 clean, 2 alarm, 3 could not decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rl_gym.infra.errors import UsageError


def command(
    sources: Annotated[list[Path], typer.Argument(help="a run folder, or files of recorded completions (JSON lines)")],
    policy: Annotated[str, typer.Option(help="the policy to audit")] = "grpo",
    baseline: Annotated[str, typer.Option(help="the policy that it is held against")] = "sft",
    oracle: Annotated[str, typer.Option(help="the policy whose answers say what was asked")] = "oracle",
    env: Annotated[str | None, typer.Option(help="environment whose exploits to replay (a run knows its own)")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="KEY=VALUE for that environment")] = None,
    output: Annotated[Path | None, typer.Option(help="folder for report.json and report.md")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the report as JSON")] = False,
) -> int:
    """Ask how a reward went up: lift by component and check, collapse, omission, exploits, dead groups, drift.

    A run keeps the report in its folder, under audit/. Exit code 0: clean; 2: an alarm; 3: could not decide.
    """
    from rl_gym.cli.recorded import Evidence, environment, key_values, read_evidence
    from rl_gym.gym.audit import audit, write_report

    found = [read_evidence(path) for path in sources]
    if len(found) > 1 and any(evidence.run for evidence in found):
        raise UsageError("a run folder is audited alone; give files to audit several together")
    evidence = Evidence([record for each in found for record in each.records], found[0].run)
    judge = environment(evidence, env, key_values("--option", option or []))
    report = audit(evidence.records, policy=policy, baseline=baseline, oracle=oracle, env=judge)
    if evidence.run is not None:
        with evidence.run.lock():
            evidence.run.clear("audit")
            write_report(evidence.run.stage("audit"), report)
            evidence.run.seal("audit")
    if output is not None:
        write_report(output, report)
    if as_json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        from rich.console import Console

        Console().print(report.to_table())
        print("\n".join(report.verdict_lines))
    return report.exit_code
