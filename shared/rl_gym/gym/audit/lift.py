"""Where the gain came from: the paired change of the reward, its gates, each component and each check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rl_gym.gym.audit.evidence import Evidence
from rl_gym.gym.audit.report import Metric, measured
from rl_gym.gym.pairing import MEASURES, values_by_episode
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import Clusters, bootstrap_mean, differences, holm, p_below

__all__ = ["lift_metrics"]

TOLERANCE = 0.05
LEVEL = 0.025
THRESHOLD = f"below {-TOLERANCE}"
ALARM = f"alarm where the change lies below {-TOLERANCE}, one-sided p < {LEVEL} after Holm's correction"


def lift_metrics(evidence: Evidence) -> Iterator[Metric]:
    """One metric for reward, gate rate and valid rate, then one a component, then one a check.

    Components and checks are two families of tests, each corrected on its own.
    """
    before, after = (evidence.sampled[name] for name in (evidence.baseline, evidence.policy))
    for name, measure in MEASURES.items():
        change = differences(values_by_episode(before, measure), values_by_episode(after, measure))
        yield measured(
            f"lift.{name}",
            bootstrap_mean(change),
            how_to_read=f"change of the mean {name.replace('_', ' ')}, paired by episode",
        )
    yield from _family(
        "component",
        {name: (_component(before, name), _component(after, name)) for name in _components(after)},
        "change of the raw component, before cap and weight, over the episodes where it applied to both",
    )
    yield from _family(
        "check",
        {name: tuple(_check(own, name, where) for own in (before, after)) for name, where in _checks(evidence).items()},
        "change of the share of outputs that pass, over the episodes where the check applies to the oracle's answer "
        "(without an oracle: to any answer); an output to which it does not apply there has not passed",
    )


def _family(kind: str, pairs: Mapping[str, tuple[Clusters, ...]], how_to_read: str) -> Iterator[Metric]:
    changes = {}
    for name, (before, after) in pairs.items():
        both = before.keys() & after.keys()
        if both:
            changes[name] = differences({e: before[e] for e in both}, {e: after[e] for e in both})
    adjusted = holm({name: p_below(change, -TOLERANCE) for name, change in changes.items()})
    for name, change in changes.items():
        yield measured(
            f"lift.{kind}.{name}",
            bootstrap_mean(change),
            how_to_read=f"{how_to_read}; {ALARM}",
            threshold=THRESHOLD,
            alarm=adjusted[name] < LEVEL,
        )


def _components(records: Sequence[RecordedCompletion]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record.breakdown.components))


def _component(records: Sequence[RecordedCompletion], name: str) -> Clusters:
    values: dict[str, list[float]] = {}
    for record in records:
        value = record.breakdown.components.get(name)
        if value is not None:
            values.setdefault(record.episode_hash, []).append(value)
    return values


def _checks(evidence: Evidence) -> dict[str, set[str]]:
    """Each check with the episodes where it matters."""
    policies = [evidence.oracle] if evidence.oracle else [evidence.baseline, evidence.policy]
    where: dict[str, set[str]] = {}
    for policy in policies:
        for record in evidence.sampled[policy]:
            for name, verdict in record.checks.items():
                if verdict != "na":
                    where.setdefault(name, set()).add(record.episode_hash)
    return dict(sorted(where.items()))


def _check(records: Sequence[RecordedCompletion], name: str, where: set[str]) -> Clusters:
    applies = (record for record in records if record.episode_hash in where)
    return values_by_episode(applies, lambda record: float(record.checks.get(name) == "pass"))
