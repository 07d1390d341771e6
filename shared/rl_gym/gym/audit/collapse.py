"""Whether a policy still writes different things for different requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rl_gym.gym.audit.evidence import Evidence
from rl_gym.gym.audit.report import Metric, measured, not_measured
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import distinct_share

__all__ = ["collapse_metrics"]

SHARE_OF_ORACLE = 0.5
HOW_TO_READ = (
    "share of distinct answers among one answer an episode (greedy, else the first sample) that parse, after names and "
    f"order are removed; alarm where the audited policy's whole interval lies under {SHARE_OF_ORACLE} of the oracle's"
)


def collapse_metrics(evidence: Evidence) -> Iterator[Metric]:
    """One metric a recorded policy."""
    answers = {name: _answers(evidence, name) for name in evidence.sampled}
    oracle = answers.get(evidence.oracle or "")
    floor = SHARE_OF_ORACLE * distinct_share(oracle).estimate if oracle else None
    for policy, own in answers.items():
        name = f"collapse.uniq.{policy}"
        if not own:
            yield not_measured(name, "no canonical form of any answer is recorded", how_to_read=HOW_TO_READ)
            continue
        interval = distinct_share(own)
        audited = policy == evidence.policy and floor is not None
        yield measured(
            name,
            interval,
            how_to_read=HOW_TO_READ,
            threshold=f"below {floor:.3f}" if audited else "none",
            alarm=audited and floor is not None and interval.high < floor,
        )


def _answers(evidence: Evidence, policy: str) -> Sequence[str]:
    records = evidence.greedy[policy] or _first(evidence.sampled[policy])
    return [record.canonical for record in records if record.canonical]


def _first(records: Sequence[RecordedCompletion]) -> Sequence[RecordedCompletion]:
    return [record for record in records if record.sample == 0]
