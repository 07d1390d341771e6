"""audit and gate: whether what evaluation found is real, and whether the candidate may take the incumbent's place."""

from __future__ import annotations

from rl_gym.gym import records
from rl_gym.gym.audit import audit, read_report, write_report
from rl_gym.gym.gate import decide, write_verdict
from rl_gym.training.chain import candidate, incumbent, trainers
from rl_gym.training.collapse import run_alarms
from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.stages.drift import forgetting
from rl_gym.training.stages.jobs import environment

__all__ = ["audit_run", "gate_run"]


def audit_run(run: Run, means: Means, progress: Progress) -> None:
    """The reward-hacking audit of the candidate against the incumbent: `report.json`, and the same for people."""
    progress.update("audit", 0, 1)
    completions = records.read(run.folder / "evaluate" / "completions.jsonl")
    report = audit(
        completions, policy=candidate(run.stages), baseline=incumbent(run.stages), env=environment(run.config)
    )
    write_report(run.stage("audit"), report)


def gate_run(run: Run, means: Means, progress: Progress) -> None:
    """The verdict, from the completions, the audit and the alarms of training: `verdict.json`.

    After a drift the candidate must hold under the rules before too: `before.json`.
    """
    progress.update("gate", 0, 1)
    completions = records.read(run.folder / "evaluate" / "completions.jsonl")
    also = [forgetting(run)] if run.config.mode == "drift" else []
    for one in also:
        write_verdict(run.stage("gate") / "before.json", one)
    verdict = decide(
        [record for record in completions if record.policy == incumbent(run.stages)],
        [record for record in completions if record.policy == candidate(run.stages)],
        tolerance=run.config.gate.tolerance,
        audit=read_report(run.folder / "audit" / "report.json"),
        training_alarms=run_alarms(run, trainers(run.stages)[-1]),
        also=also,
    )
    write_verdict(run.stage("gate") / "verdict.json", verdict)
