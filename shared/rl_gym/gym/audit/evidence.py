"""What every metric reads: the completions of the audited policy, of its baseline, and of the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rl_gym.gym.core import Environment
from rl_gym.gym.pairing import by_split_and_policy, check_comparable, select
from rl_gym.gym.records import RecordedCompletion
from rl_gym.infra.errors import UsageError

__all__ = ["Evidence", "gather"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Completions by policy, over the same episodes, judged by the same reward.

    `sampled` and `greedy` hold every recorded policy; `oracle` is the policy that answers best by construction, None
    where it was not recorded; `env` is the environment itself, None where it was not given.
    """

    policy: str
    baseline: str
    oracle: str | None
    sampled: Mapping[str, Sequence[RecordedCompletion]]
    greedy: Mapping[str, Sequence[RecordedCompletion]]
    env: Environment | None = None


def gather(
    records: Sequence[RecordedCompletion], policy: str, baseline: str, oracle: str, env: Environment | None
) -> Evidence:
    """Line records up; UsageError where they are not comparable, or a policy has no sampled completions."""
    check_comparable(by_split_and_policy(records))
    if policy == baseline:
        raise UsageError(f"an audit compares two policies, and both are {policy!r}")
    names = dict.fromkeys(record.policy for record in records)
    decoded = {
        greedy: {name: [r for r in records if r.policy == name and r.greedy is greedy] for name in names}
        for greedy in (False, True)
    }
    for name in (policy, baseline):
        select(records, name)
        if not decoded[False][name]:
            raise UsageError(f"policy {name!r} has greedy completions alone: an audit reads sampled ones")
    return Evidence(policy, baseline, oracle if oracle in names else None, decoded[False], decoded[True], env)
