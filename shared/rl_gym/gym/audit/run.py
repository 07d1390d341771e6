"""One audit: lines recorded completions up, asks every metric, and says what could not be decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rl_gym.gym.audit.collapse import collapse_metrics
from rl_gym.gym.audit.drift import drift_metrics
from rl_gym.gym.audit.evidence import Evidence, gather
from rl_gym.gym.audit.exploits import exploit_metrics
from rl_gym.gym.audit.groups import group_metrics
from rl_gym.gym.audit.lift import lift_metrics
from rl_gym.gym.audit.omission import omission_metrics
from rl_gym.gym.audit.report import LEAST_UNITS, AuditReport, Metric
from rl_gym.gym.core import Environment
from rl_gym.gym.pairing import missing_samples
from rl_gym.gym.records import RecordedCompletion, records_digest
from rl_gym.infra.errors import UsageError

__all__ = ["METRICS", "audit"]

METRICS: Sequence[Callable[[Evidence], Iterator[Metric]]] = (
    lift_metrics,
    collapse_metrics,
    omission_metrics,
    exploit_metrics,
    group_metrics,
    drift_metrics,
)


def audit(
    records: Sequence[RecordedCompletion],
    *,
    policy: str,
    baseline: str,
    oracle: str = "oracle",
    env: Environment | None = None,
) -> AuditReport:
    """Audit `policy` against `baseline`, with the oracle's answers as the measure of what was asked.

    The records may hold other policies too, and several splits. With `env` the exploit battery is replayed; the
    environment must be the one that judged the records.

    Raises UsageError where the records are not comparable, a policy is missing, or `env` judges otherwise;
    InfrastructureError where the environment fails on an exploit.
    """
    evidence = gather(records, policy, baseline, oracle, env)
    first = records[0]
    if env is not None and (env.name, env.reward.digest) != (first.environment, first.breakdown.digest):
        raise UsageError(
            f"the records were judged by {first.environment}:{first.breakdown.digest}, the environment given is "
            f"{env.name}:{env.reward.digest}: give it the options of the run"
        )
    own = evidence.sampled[policy]
    episodes = len({record.episode_hash for record in own})
    return AuditReport(
        environment=first.environment,
        reward_digest=first.breakdown.digest,
        splits=list(dict.fromkeys(record.split for record in records)),
        policy=policy,
        baseline=baseline,
        episodes=episodes,
        completions=len(records),
        records_digest=records_digest(records),
        policy_digest=records_digest(own),
        metrics=[metric for metrics in METRICS for metric in metrics(evidence)],
        undecided=[*_undecided(evidence, episodes)],
    )


def _undecided(evidence: Evidence, episodes: int) -> Iterator[str]:
    if episodes < LEAST_UNITS:
        yield f"{episodes} episodes are too few for any threshold: at least {LEAST_UNITS} are needed"
    for policy in (evidence.baseline, evidence.policy):
        missing = missing_samples([*evidence.sampled[policy], *evidence.greedy[policy]])
        if missing:
            yield f"{missing} completions of {policy!r} could not be scored: evaluate it again"
