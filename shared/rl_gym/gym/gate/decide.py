"""The decision: non-inferior on every anchor, no gate and no family of checks worse, no alarm; or why not.

With n episodes an equal model is shown to be within the tolerance only if n is large enough for its spread; where it is
not, the answer is UNDECIDED with the n that would do, rather than a BLOCK that says more than is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rl_gym.gym.audit.report import AuditReport
from rl_gym.gym.gate.families import family_changes, family_of
from rl_gym.gym.gate.verdict import AnchorResult, Decision, Side, Verdict
from rl_gym.gym.pairing import (
    MEASURES,
    Measure,
    Splits,
    check_comparable,
    missing_samples,
    values_by_episode,
)
from rl_gym.gym.records import RecordedCompletion, records_digest
from rl_gym.gym.statistics import (
    CONFIDENCE,
    McNemar,
    bootstrap_mean,
    differences,
    holm,
    mcnemar,
    minimum_detectable_effect,
    n_needed,
    spread,
)
from rl_gym.infra.errors import UsageError

__all__ = ["LEAST_EPISODES", "decide"]

LEAST_EPISODES = 30
LEVEL = 1 - CONFIDENCE
ALL_GATES = "all"


@dataclass(frozen=True, slots=True)
class _Objection:
    """A reason against promotion: what was shown, or what could not be."""

    kind: Literal["BLOCK", "UNDECIDED"]
    reason: str


def decide(
    incumbent: Sequence[RecordedCompletion],
    candidate: Sequence[RecordedCompletion],
    *,
    tolerance: float = 0.02,
    family_tolerance: float = 0.05,
    require_superiority: Sequence[str] = (),
    family: Callable[[str], str] = family_of,
    audit: AuditReport | None = None,
    training_alarms: Sequence[str] = (),
    also: Sequence[Verdict] = (),
) -> Verdict:
    """Decide whether `candidate` may replace `incumbent`, from the sampled completions of both over the same episodes.

    On every anchor (split) of the records:
    - reward: the low end of the 95% interval of the paired difference must lie above -tolerance, and the mean must do
      so even if the candidate fails altogether as often as its samples can fail to show;
    - gates: the conjunction of all gates, and each gate after Holm, must not be significantly worse (McNemar, 5%);
    - families of checks: none may be worse than `family_tolerance`, one-sided 2.5% after Holm;
    - on the anchors of `require_superiority` the low end must lie above 0.
    An alarm of the audit or of the training log blocks, and so does a verdict of `also`: on the same two, by another
    reward, such as the rules that were in force before. PROMOTE needs all of it; what is shown to fail is BLOCK; what
    the number of episodes cannot resolve is UNDECIDED.

    Raises UsageError where the two cannot be compared: other episodes, other splits, other reward digests, repeated
    samples, no sampled completions, an audit of something else, a tolerance outside (0, 1].
    """
    for name, value in (("tolerance", tolerance), ("family tolerance", family_tolerance)):
        if not 0 < value <= 1:
            raise UsageError(f"{name} must lie in (0, 1], not {value} (to demand a gain, require superiority)")
    splits = _line_up(incumbent, candidate)
    check_comparable(splits)
    _check_anchors(splits, require_superiority)
    if audit is not None:
        _check_audit(audit, candidate)

    objections: list[_Objection] = [*_alarms(audit, training_alarms), *_others(also)]
    anchors = []
    for split, sides in splits.items():
        anchor = _measure(split, sides["incumbent"], sides["candidate"], tolerance, family_tolerance, family)
        anchors.append(anchor)
        objections += _missing(split, sides)
        objections += _reward(anchor, tolerance)
        objections += _gates(anchor)
        objections += _families(anchor, family_tolerance)
        if split in require_superiority:
            objections += _superiority(anchor)
    decision = _decision(objections)
    return Verdict(
        decision=decision,
        reasons=[o.reason for o in objections if o.kind == decision] or ["every condition holds"],
        environment=incumbent[0].environment,
        reward_digest=incumbent[0].breakdown.digest,
        incumbent=_identity(incumbent),
        candidate=_identity(candidate),
        settings={
            "tolerance": tolerance,
            "family_tolerance": family_tolerance,
            "require_superiority": list(require_superiority),
            **({"also": [verdict.digest for verdict in also]} if also else {}),
        },
        anchors=anchors,
        audit_digest=audit.digest if audit is not None else None,
        training_alarms=list(training_alarms),
    )


def _line_up(
    incumbent: Sequence[RecordedCompletion], candidate: Sequence[RecordedCompletion]
) -> dict[str, dict[str, list[RecordedCompletion]]]:
    """The sampled completions by split, then by role: two runs may call their policies alike."""
    splits: dict[str, dict[str, list[RecordedCompletion]]] = {}
    for role, records in (("incumbent", incumbent), ("candidate", candidate)):
        if not records:
            raise UsageError(f"no recorded completions of the {role}")
        policies = dict.fromkeys(record.policy for record in records)
        if len(policies) > 1:
            raise UsageError(f"the {role} must be one policy, its records hold {', '.join(policies)}")
        sampled = [record for record in records if not record.greedy]
        if not sampled:
            raise UsageError(f"the {role} has greedy completions alone: the gate compares sampled ones")
        for record in sampled:
            splits.setdefault(record.split, {}).setdefault(role, []).append(record)
    return splits


def _identity(records: Sequence[RecordedCompletion]) -> Side:
    models = dict.fromkeys(record.model for record in records)
    return Side(records[0].policy, ", ".join(models), records_digest(r for r in records if not r.greedy))


def _check_anchors(splits: Splits, require_superiority: Sequence[str]) -> None:
    for split, sides in splits.items():
        if len(sides) < 2:
            raise UsageError(f"split {split!r} was answered by the {next(iter(sides))} alone")
    for anchor in require_superiority:
        if anchor not in splits:
            raise UsageError(f"superiority is required on {anchor!r}, the records hold {', '.join(splits)}")


def _check_audit(audit: AuditReport, candidate: Sequence[RecordedCompletion]) -> None:
    if audit.policy_digest != records_digest(record for record in candidate if not record.greedy):
        raise UsageError(f"the audit of {audit.policy!r} is not of the candidate's completions: audit them first")


def _measure(
    split: str,
    incumbent: Sequence[RecordedCompletion],
    candidate: Sequence[RecordedCompletion],
    tolerance: float,
    family_tolerance: float,
    family: Callable[[str], str],
) -> AnchorResult:
    def pair(measure: Measure) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
        return values_by_episode(incumbent, measure), values_by_episode(candidate, measure)

    change = differences(*pair(MEASURES["reward"]))
    sd, n = spread(change), len(change)
    return AnchorResult(
        split=split,
        episodes=n,
        samples=(len(incumbent), len(candidate)),
        reward=bootstrap_mean(change),
        detectable=minimum_detectable_effect(sd, n),
        episodes_needed=max(LEAST_EPISODES, n_needed(sd, tolerance)),
        gates=_gate_tests(pair, list(incumbent[0].breakdown.gates)),
        families=family_changes(incumbent, candidate, family_tolerance, family),
    )


def _gate_tests(
    pair: Callable[[Measure], tuple[dict[str, list[float]], dict[str, list[float]]]], gates: Sequence[str]
) -> dict[str, McNemar]:
    if not gates:
        return {}
    single = {name: mcnemar(*pair(_holds(name))) for name in gates}
    adjusted = holm({name: test.p for name, test in single.items()})
    return {ALL_GATES: mcnemar(*pair(MEASURES["gate_rate"]))} | {
        name: replace(test, p=adjusted[name]) for name, test in single.items()
    }


def _holds(gate: str) -> Measure:
    return lambda record: float(record.breakdown.gates[gate])


def _alarms(audit: AuditReport | None, training_alarms: Sequence[str]) -> Iterator[_Objection]:
    if audit is not None:
        for alarm in audit.alarms:
            yield _Objection("BLOCK", f"audit alarm: {alarm}")
        for reason in audit.undecided:
            yield _Objection("UNDECIDED", f"audit undecided: {reason}")
    for alarm in training_alarms:
        yield _Objection("BLOCK", f"training alarm: {alarm}")


def _others(verdicts: Sequence[Verdict]) -> Iterator[_Objection]:
    for verdict in verdicts:
        if verdict.decision != "PROMOTE":
            judge = f"{verdict.environment}:{verdict.reward_digest}"
            yield from (_Objection(verdict.decision, f"as {judge} judges: {reason}") for reason in verdict.reasons)


def _missing(split: str, sides: Mapping[str, Sequence[RecordedCompletion]]) -> Iterator[_Objection]:
    for role, records in sides.items():
        if missing := missing_samples(records):
            yield _Objection(
                "UNDECIDED", f"{split}: {missing} samples of the {role} could not be scored: evaluate again"
            )


def _reward(anchor: AnchorResult, tolerance: float) -> Iterator[_Objection]:
    """Non-inferiority: short of it are an interval that lies below, and one that n should have kept above."""
    where, change = f"{anchor.split}: reward", anchor.reward
    numbers = (
        f"changed by {change.estimate:+.3f} (95% {change.low:+.3f} .. {change.high:+.3f}), tolerance {tolerance:g}"
    )
    if change.low <= -tolerance:
        if change.high < -tolerance or anchor.episodes >= anchor.episodes_needed:
            yield _Objection("BLOCK", f"{where} {numbers}")
        else:
            yield _Objection("UNDECIDED", f"{where} {numbers}: {_too_few(anchor.episodes, anchor.episodes_needed)}")
        return
    samples = anchor.samples[1] / anchor.episodes
    needed = max(LEAST_EPISODES, math.ceil(_samples_to_see_failures(change.estimate, tolerance) / samples))
    if anchor.episodes < needed:
        yield _Objection("UNDECIDED", f"{where} {numbers}: {_too_few(anchor.episodes, needed)}")


def _samples_to_see_failures(mean: float, tolerance: float) -> int:
    """How many samples of the candidate it takes to rule out rare total failures that would use up the tolerance.

    If a share q of its samples lost everything (a difference of -1) and the others gained `mean`, the true change would
    be (1 - q) mean - q. With n samples of which none showed such a loss, q is below 1 - 0.025^(1/n) at 97.5% (Clopper
    and Pearson 1934, no events seen: "the rule of three"). A bootstrap cannot see what was not drawn. The unit is the
    sample: an episode of the anchor that always fails has been seen, what can stay unseen is a failure now and then.
    """
    q = (mean + tolerance) / (1 + mean)
    return 1 if q >= 1 else math.ceil(math.log(LEVEL / 2) / math.log(1 - q))


def _superiority(anchor: AnchorResult) -> Iterator[_Objection]:
    change = anchor.reward
    if change.low > 0:
        return
    numbers = f"{change.estimate:+.3f} (95% {change.low:+.3f} .. {change.high:+.3f})"
    reason = f"{anchor.split}: superiority is required, the reward changed by {numbers}"
    if anchor.episodes >= anchor.episodes_needed or change.high < 0:
        yield _Objection("BLOCK", reason)
    else:
        yield _Objection("UNDECIDED", f"{reason}: {_too_few(anchor.episodes, anchor.episodes_needed)}")


def _too_few(n: int, needed: int) -> str:
    return f"{n} episodes cannot tell, about {needed} would"


def _gates(anchor: AnchorResult) -> Iterator[_Objection]:
    for name, test in anchor.gates.items():
        if test.worse > test.better and test.p < LEVEL:
            what = "all gates together hold" if name == ALL_GATES else f"gate {name!r} holds"
            numbers = f"{test.worse} episodes, more often in {test.better} (McNemar p {test.p:.4f})"
            yield _Objection("BLOCK", f"{anchor.split}: {what} less often in {numbers}")


def _families(anchor: AnchorResult, tolerance: float) -> Iterator[_Objection]:
    for name, family in anchor.families.items():
        if family.p < LEVEL / 2:
            change = f"{family.change.estimate:+.3f} (tolerance {tolerance:g}, p {family.p:.4f} after Holm)"
            yield _Objection("BLOCK", f"{anchor.split}: checks of family {name!r} pass less often by {change}")


def _decision(objections: Sequence[_Objection]) -> Decision:
    kinds = {objection.kind for objection in objections}
    return "BLOCK" if "BLOCK" in kinds else "UNDECIDED" if kinds else "PROMOTE"
