"""Whether outputs grew or shrank beyond what the baseline's own spread explains."""

from __future__ import annotations

from collections.abc import Iterator

from rl_gym.gym.audit.evidence import Evidence
from rl_gym.gym.audit.report import Metric, measured, not_measured
from rl_gym.gym.pairing import values_by_episode
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import Interval, paired_difference, spread

__all__ = ["drift_metrics"]

MOST = 2.0
HOW_TO_READ = (
    "change of the mean length, in standard deviations of the baseline's outputs (Glass's delta); alarm where the "
    f"whole interval lies beyond {MOST} on one side"
)


def drift_metrics(evidence: Evidence) -> Iterator[Metric]:
    """One metric: length, in tokens where every output was counted, else in characters."""
    before, after = (evidence.sampled[name] for name in (evidence.baseline, evidence.policy))
    counted = all(record.completion_tokens is not None for record in (*before, *after))
    name = f"drift.length_{'tokens' if counted else 'characters'}"

    def length(record: RecordedCompletion) -> float:
        tokens = record.completion_tokens
        return float(len(record.completion) if tokens is None or not counted else tokens)

    unit = spread([length(record) for record in before])
    if unit == 0:
        yield not_measured(name, "every output of the baseline has the same length", how_to_read=HOW_TO_READ)
        return
    change = paired_difference(values_by_episode(before, length), values_by_episode(after, length))
    interval = Interval(change.estimate / unit, change.low / unit, change.high / unit, change.n)
    yield measured(
        name,
        interval,
        how_to_read=HOW_TO_READ,
        threshold=f"beyond {MOST}",
        alarm=interval.low > MOST or interval.high < -MOST,
    )
