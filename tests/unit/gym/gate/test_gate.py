from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.gate import TOLERANCE, decisions, rare_failures, shifted
from rl_gym.gym.audit import AuditReport, Metric, audit
from rl_gym.gym.gate import Verdict, decide, family_of, write_verdict
from rl_gym.gym.records import RecordedCompletion
from rl_gym.infra.errors import UsageError

Records = Callable[..., list[RecordedCompletion]]
Maker = Callable[..., RecordedCompletion]
EPISODES = 200


def rewards(mean: float, *, spread: float = 0.05, seed: int = 0, episodes: int = EPISODES) -> Sequence[Sequence[float]]:
    """Rewards of shape (episodes, 4) whose mean is exactly `mean`."""
    noise = np.random.default_rng(seed).uniform(-spread, spread, (episodes, 4))
    return (mean + noise - noise.mean()).tolist()  # type: ignore[no-any-return]


def compare(
    policy_records: Records, change: float, *, seed: int = 1, spread: float = 0.05, **settings: object
) -> Verdict:
    before = policy_records("sft", rewards(0.5, spread=spread))
    after = policy_records("grpo", rewards(0.5 + change, spread=spread, seed=seed))
    return decide(before, after, **settings)  # type: ignore[arg-type]


def test_a_better_candidate_is_promoted(policy_records: Records) -> None:
    verdict = compare(policy_records, +0.1)
    assert (verdict.decision, verdict.exit_code, verdict.reasons) == ("PROMOTE", 0, ["every condition holds"])
    [anchor] = verdict.anchors
    assert anchor.reward.estimate == pytest.approx(0.1)
    assert anchor.episodes == EPISODES
    assert anchor.samples == (800, 800)


def test_an_equal_candidate_is_promoted(policy_records: Records) -> None:
    assert compare(policy_records, 0.0).decision == "PROMOTE"


def test_a_candidate_worse_than_the_tolerance_is_blocked(policy_records: Records) -> None:
    verdict = compare(policy_records, -0.1)
    assert (verdict.decision, verdict.exit_code) == ("BLOCK", 2)
    assert verdict.reasons[0].startswith("anchor: reward changed by -0.100")


def test_a_candidate_at_the_edge_is_not_promoted(policy_records: Records) -> None:
    assert compare(policy_records, -0.02).decision == "BLOCK"


def test_noise_that_n_cannot_resolve_is_undecided_and_n_is_told(policy_records: Records) -> None:
    verdict = compare(policy_records, 0.0, spread=0.45)
    assert (verdict.decision, verdict.exit_code) == ("UNDECIDED", 3)
    [anchor] = verdict.anchors
    assert anchor.episodes_needed > 500
    assert f"200 episodes cannot tell, about {anchor.episodes_needed} would" in verdict.reasons[0]


def test_few_episodes_never_promote(policy_records: Records) -> None:
    same = [[1.0] * 8] * 29
    verdict = decide(policy_records("sft", same), policy_records("grpo", same))
    assert verdict.decision == "UNDECIDED"
    assert "29 episodes cannot tell, about 30 would" in verdict.reasons[0]


def test_equal_rewards_without_spread_need_enough_samples_to_have_seen_a_failure(policy_records: Records) -> None:
    # ln 0.025 / ln 0.98 = 182.6 samples.
    for episodes, samples, decision in (
        (182, 1, "UNDECIDED"),
        (183, 1, "PROMOTE"),
        (45, 4, "UNDECIDED"),
        (46, 4, "PROMOTE"),
    ):
        same = [[1.0] * samples] * episodes
        assert decide(policy_records("sft", same), policy_records("grpo", same)).decision == decision


def test_a_gate_that_holds_less_often_blocks_whatever_the_reward(policy_records: Records) -> None:
    before = policy_records("sft", rewards(0.5), gates={"builds": True, "safe": True})
    after = policy_records("grpo", rewards(0.9, seed=1), gates={"builds": True, "safe": True})
    broken = [
        r.model_copy(update={"breakdown": replace(r.breakdown, gates={"builds": True, "safe": False})})
        if int(r.episode_hash) < 20
        else r
        for r in after
    ]
    assert decide(before, after).decision == "PROMOTE"
    verdict = decide(before, broken)
    assert verdict.decision == "BLOCK"
    assert [reason[: reason.index(" in ")] for reason in verdict.reasons] == [
        "anchor: all gates together hold less often",
        "anchor: gate 'safe' holds less often",
    ]
    gates = verdict.anchors[0].gates
    assert (gates["all"].worse, gates["safe"].worse, gates["builds"].worse) == (20, 20, 0)


def family_records(
    record: Maker, policy: str, passes: Mapping[str, float], *, episodes: int = EPISODES
) -> list[RecordedCompletion]:
    """Two samples an episode; each check passes in its share of the episodes."""
    return [
        record(
            policy,
            episode,
            sample,
            reward=0.5,
            checks={name: "pass" if episode % 100 < 100 * share else "fail" for name, share in passes.items()},
        )
        for episode in range(episodes)
        for sample in range(2)
    ]


def test_a_family_that_got_worse_blocks_behind_an_equal_reward(record: Maker) -> None:
    before = family_records(record, "sft", {"s3_a": 0.9, "s3_b": 0.9, "iam_a": 0.5})
    after = family_records(record, "grpo", {"s3_a": 0.6, "s3_b": 0.6, "iam_a": 0.9})
    verdict = decide(before, after)
    assert verdict.decision == "BLOCK"
    [reason] = verdict.reasons
    assert "family 's3' pass less often by -0.300" in reason
    families = verdict.anchors[0].families
    assert families["iam"].change.estimate == pytest.approx(0.4)
    assert decide(before, after, family_tolerance=0.35).decision == "PROMOTE"


def test_a_family_that_is_left_out_counts_as_not_passed(record: Maker) -> None:
    before = family_records(record, "sft", {"s3_a": 1.0, "iam_a": 1.0})
    after = family_records(record, "grpo", {"iam_a": 1.0})
    assert decide(before, after).anchors[0].families["s3"].change.estimate == -1.0


def test_families_may_be_told_otherwise(record: Maker) -> None:
    before = family_records(record, "sft", {"s3_a": 1.0, "iam_a": 0.0})
    after = family_records(record, "grpo", {"s3_a": 0.0, "iam_a": 1.0})
    assert decide(before, after).decision == "BLOCK"
    verdict = decide(before, after, family=lambda check: "all of them")
    assert verdict.decision == "PROMOTE"
    assert list(verdict.anchors[0].families) == ["all of them"]


@pytest.mark.parametrize(
    ("check", "family"), [("s3_public_acl", "s3"), ("style.length", "style"), ("kind/x", "kind"), ("tags", "tags")]
)
def test_a_family_is_the_first_word_of_a_check(check: str, family: str) -> None:
    assert family_of(check) == family


def test_a_small_chance_loss_in_a_family_is_forgiven(record: Maker) -> None:
    before = family_records(record, "sft", {"s3_a": 0.9})
    after = family_records(record, "grpo", {"s3_a": 0.86})
    assert decide(before, after).decision == "PROMOTE"


def test_required_superiority_must_be_shown(policy_records: Records) -> None:
    assert compare(policy_records, 0.05, require_superiority=["anchor"]).decision == "PROMOTE"
    verdict = compare(policy_records, 0.0, require_superiority=["anchor"])
    assert verdict.decision == "BLOCK"
    assert "superiority is required" in verdict.reasons[0]
    assert compare(policy_records, 0.0, spread=0.45, require_superiority=["anchor"]).decision == "UNDECIDED"
    with pytest.raises(UsageError, match="superiority is required on 'dev', the records hold anchor"):
        compare(policy_records, 0.0, require_superiority=["dev"])


def test_every_anchor_must_hold(policy_records: Records) -> None:
    def both(policy: str, first: float, second: float, seed: int) -> list[RecordedCompletion]:
        return policy_records(policy, rewards(first, seed=seed), split="dev") + policy_records(
            policy, rewards(second, seed=seed + 7), split="holdout"
        )

    verdict = decide(both("sft", 0.5, 0.5, 0), both("grpo", 0.6, 0.4, 1))
    assert verdict.decision == "BLOCK"
    assert [reason[:7] for reason in verdict.reasons] == ["holdout"]
    assert [anchor.split for anchor in verdict.anchors] == ["dev", "holdout"]


def test_alarms_block(policy_records: Records) -> None:
    verdict = compare(policy_records, 0.1, training_alarms=["reward variance collapsed"])
    assert (verdict.decision, verdict.reasons) == ("BLOCK", ["training alarm: reward variance collapsed"])


def audited(before: list[RecordedCompletion], after: list[RecordedCompletion]) -> AuditReport:
    return audit([*before, *after], policy="grpo", baseline="sft")


def test_an_audit_alarm_blocks_and_an_undecided_audit_leaves_it_open(policy_records: Records) -> None:
    before = policy_records("sft", rewards(0.5))
    after = policy_records("grpo", rewards(0.6, seed=1))
    clean = audited(before, after)
    verdict = decide(before, after, audit=clean)
    assert (verdict.decision, verdict.audit_digest) == ("PROMOTE", clean.digest)
    alarm = replace(clean, metrics=[Metric("made.up", 0.9, None, None, 1, "above 0.5", True, "")])
    assert decide(before, after, audit=alarm).reasons == ["audit alarm: made.up: 0.900, threshold: above 0.5"]
    assert decide(before, after, audit=alarm).decision == "BLOCK"
    assert decide(before, after, audit=replace(clean, undecided=["too few"])).decision == "UNDECIDED"


def test_an_audit_of_something_else_is_refused(policy_records: Records) -> None:
    before = policy_records("sft", rewards(0.5))
    after = policy_records("grpo", rewards(0.6, seed=1))
    other = audited(before, policy_records("grpo", rewards(0.7, seed=2)))
    with pytest.raises(UsageError, match="audit of 'grpo' is not of the candidate's completions"):
        decide(before, after, audit=other)


def test_missing_samples_are_undecided_and_never_zero(policy_records: Records) -> None:
    before, after = policy_records("sft", rewards(0.5)), policy_records("grpo", rewards(0.6, seed=1))
    verdict = decide(before, after[:-1])
    assert verdict.decision == "UNDECIDED"
    assert verdict.reasons == ["anchor: 1 samples of the candidate could not be scored: evaluate again"]


def test_what_cannot_be_compared_is_refused(policy_records: Records, record: Maker) -> None:
    before, after = policy_records("sft", rewards(0.5)), policy_records("grpo", rewards(0.6, seed=1))
    cases: list[tuple[list[RecordedCompletion], list[RecordedCompletion], str]] = [
        ([], after, "no recorded completions of the incumbent"),
        (before, [], "no recorded completions of the candidate"),
        (before, after[4:], "'incumbent' and 'candidate' were not asked the same episodes: 1 .* the first is e0"),
        (before, [*after, after[0]], "'candidate': sample 0 of e0 stands twice"),
        (before, policy_records("grpo", rewards(0.6), digest="d2"), "not comparable, they were decided by"),
        (before, policy_records("grpo", rewards(0.6), split="dev"), "'anchor' was answered by the incumbent alone"),
        (before, [*after, record("other")], "the candidate must be one policy, its records hold grpo, other"),
        (before, [r.model_copy(update={"greedy": True}) for r in after], "the candidate has greedy completions alone"),
    ]
    for first, second, why in cases:
        with pytest.raises(UsageError, match=why):
            decide(first, second)
    for tolerance in (0.0, -0.1, 1.5, float("nan")):
        with pytest.raises(UsageError, match=r"tolerance must lie in \(0, 1\]"):
            decide(before, after, tolerance=tolerance)


def test_greedy_completions_play_no_part(policy_records: Records) -> None:
    before, after = policy_records("sft", rewards(0.5)), policy_records("grpo", rewards(0.6, seed=1))
    greedy = policy_records("grpo", [[0.0]] * EPISODES, greedy=True)
    assert decide(before, [*after, *greedy]).digest == decide(before, after).digest


def test_two_runs_may_call_their_policies_alike(policy_records: Records) -> None:
    verdict = decide(policy_records("grpo", rewards(0.5)), policy_records("grpo", rewards(0.6, seed=1)))
    assert verdict.decision == "PROMOTE"
    assert verdict.incumbent.policy == verdict.candidate.policy == "grpo"


def test_a_verdict_is_a_document_of_all_that_was_read(policy_records: Records, tmp_path: Path) -> None:
    verdict = compare(policy_records, 0.1)
    assert verdict.digest == compare(policy_records, 0.1).digest
    others = [
        compare(policy_records, 0.1, seed=3),
        compare(policy_records, 0.1, tolerance=0.03),
        compare(policy_records, 0.1, training_alarms=["x"]),
    ]
    assert len({verdict.digest, *(other.digest for other in others)}) == 4
    write_verdict(tmp_path / "gate" / "verdict.json", verdict)
    document = json.loads((tmp_path / "gate" / "verdict.json").read_text(), parse_constant=pytest.fail)
    assert document["decision"] == "PROMOTE"
    assert document["digest"] == verdict.digest
    assert document["anchors"][0]["reward"]["n"] == EPISODES
    assert document["incumbent"]["records_digest"] != document["candidate"]["records_digest"]


def test_the_table_shows_each_test(record: Maker) -> None:
    from rich.console import Console

    verdict = decide(
        family_records(record, "sft", {"s3_a": 0.9}), family_records(record, "grpo", {"s3_a": 0.9}), tolerance=0.1
    )
    console = Console(width=160)
    with console.capture() as capture:
        console.print(verdict.to_table())
    for word in ("anchor: 200 episodes show", "reward", "gate all", "gate gate", "family s3", "low end above -0.1"):
        assert word in capture.get()


def test_simulated_a_candidate_worse_by_the_tolerance_is_hardly_ever_promoted() -> None:
    outcomes = decisions(shifted, -TOLERANCE, episodes=120, draws=150, samples=1)
    # At 2.5% more than 9 of 150 has a chance of 0.7%.
    assert outcomes["PROMOTE"] <= 9


def test_simulated_an_equal_candidate_is_mostly_promoted() -> None:
    assert decisions(shifted, 0.0, episodes=800, draws=10, samples=1)["PROMOTE"] >= 8


def test_simulated_rare_failures_are_not_overlooked() -> None:
    """A bootstrap alone sees no loss in 9% of these draws: those in which no failure was drawn."""
    assert decisions(rare_failures, -TOLERANCE, episodes=120, draws=40, samples=1)["PROMOTE"] == 0
