from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rl_gym.gym.audit import AuditReport, Metric, audit, read_report, write_report
from rl_gym.gym.core import Environment, Exploit
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.gym.examples.countdown import Countdown
from rl_gym.gym.records import RecordedCompletion
from rl_gym.infra.errors import NotFoundError, UsageError

Maker = Callable[..., RecordedCompletion]

EPISODES = 40
SAMPLES = 4


@pytest.fixture
def ladder(record: Maker) -> Callable[..., list[RecordedCompletion]]:
    """`ladder(change)`: a clean run of sft, grpo and oracle, where `change(fields, episode, sample)` spoils grpo's.

    Check `a` applies everywhere, `b` in every second episode; sft passes half of them, grpo nine in ten.
    """

    def build(change: Callable[..., object] = lambda fields, episode, sample: None) -> list[RecordedCompletion]:
        records = []
        for policy, share in (("sft", 0.5), ("grpo", 0.9), ("oracle", 1.0)):
            for episode in range(EPISODES):
                for sample in range(-1, SAMPLES if policy != "oracle" else 1):
                    draw = (episode * 7 + sample * 3) % 10 / 10
                    fields: dict[str, object] = {
                        "reward": 1.0 if draw < share else 0.4,
                        "components": {"score": 1.0 if draw < share else 0.4},
                        "gates": {"gate": True},
                        "checks": {
                            "a": "pass" if draw < share else "fail",
                            "b": "na" if episode % 2 else "pass" if draw < share else "fail",
                        },
                        "canonical": f"answer {episode} {draw if policy != 'oracle' else ''}",
                        "completion": "x" * (100 + episode),
                    }
                    if policy == "grpo":
                        change(fields, episode, sample)
                    records.append(record(policy, episode, max(sample, 0), greedy=sample < 0, **fields))
        return records

    return build


def metrics(records: Sequence[RecordedCompletion], env: Environment | None = None) -> dict[str, Metric]:
    report = audit(records, policy="grpo", baseline="sft", env=env)
    return {metric.name: metric for metric in report.metrics}


def test_a_clean_gain_is_measured_and_raises_no_alarm(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    report = audit(ladder(), policy="grpo", baseline="sft")
    found = {metric.name: metric for metric in report.metrics}
    assert (report.alarms, report.undecided, report.exit_code) == ((), [], 0)
    assert found["lift.reward"].value == pytest.approx(0.4 * 0.6)
    assert found["lift.component.score"].value == pytest.approx(0.4 * 0.6)
    assert found["lift.check.a"].value == pytest.approx(0.4)
    assert (found["lift.check.a"].n, found["lift.check.b"].n) == (40, 20)
    low, high = found["lift.check.a"].low, found["lift.check.a"].high
    assert low is not None
    assert high is not None
    assert 0.2 < low < 0.4 < high < 0.6
    assert found["omission.applicable_checks"].value == 1.0
    assert found["collapse.uniq.oracle"].value == 1.0
    assert (report.episodes, report.splits, report.environment) == (40, ["anchor"], "made-up")


def test_a_check_that_got_worse_raises_the_alarm(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    def worse(fields: dict[str, object], episode: int, sample: int) -> None:
        fields["checks"] = {**fields["checks"], "a": "fail"}  # type: ignore[dict-item]

    found = metrics(ladder(worse))
    assert found["lift.check.a"].alarm
    assert not found["lift.check.b"].alarm


def test_leaving_a_check_out_is_not_passing_it(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    def omit(fields: dict[str, object], episode: int, sample: int) -> None:
        fields["checks"] = {"a": "na", "b": "na"}
        fields["reward"] = 1.0

    found = metrics(ladder(omit))
    assert found["lift.check.a"].value == pytest.approx(-0.5)
    assert found["lift.check.a"].alarm
    assert found["omission.applicable_checks"].value == 0.0
    assert found["omission.applicable_checks"].alarm


def test_omission_counts_only_what_is_paid(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    def omit_unpaid(fields: dict[str, object], episode: int, sample: int) -> None:
        if sample == 2:
            fields.update(checks={}, reward=0.0)

    assert metrics(ladder(omit_unpaid))["omission.applicable_checks"].value == 1.0


def test_a_component_that_got_worse_raises_the_alarm(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    def worse(fields: dict[str, object], episode: int, sample: int) -> None:
        fields["components"] = {"score": 0.3}

    assert metrics(ladder(worse))["lift.component.score"].alarm


def test_one_template_for_every_request_is_collapse(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    def template(fields: dict[str, object], episode: int, sample: int) -> None:
        fields["canonical"] = "always this"

    found = metrics(ladder(template))
    assert found["collapse.uniq.grpo"].value == pytest.approx(1 / 40)
    assert found["collapse.uniq.grpo"].alarm
    assert not found["collapse.uniq.sft"].alarm


def test_groups_without_spread_below_the_ceiling_raise_the_alarm(
    ladder: Callable[..., list[RecordedCompletion]],
) -> None:
    dead = metrics(ladder(lambda fields, episode, sample: fields.update(reward=0.7)))
    assert (dead["groups.dead"].value, dead["groups.saturated"].value) == (1.0, 0.0)
    assert dead["groups.dead"].alarm
    perfect = metrics(ladder(lambda fields, episode, sample: fields.update(reward=1.0)))
    assert (perfect["groups.dead"].value, perfect["groups.saturated"].value) == (0.0, 1.0)
    assert not perfect["groups.dead"].alarm


def test_length_that_runs_away_raises_the_alarm(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    for length, direction in ((400, 1), (1, -1)):
        found = metrics(ladder(lambda fields, episode, sample, length=length: fields.update(completion="x" * length)))[
            "drift.length_characters"
        ]
        assert found.alarm
        assert found.value is not None
        assert found.value * direction > 2


def test_length_is_counted_in_tokens_where_all_are(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    counted = [r.model_copy(update={"completion_tokens": 10 + r.sample}) for r in ladder()]
    assert metrics(counted)["drift.length_tokens"].value == pytest.approx(0.0)
    same = [r.model_copy(update={"completion_tokens": 10}) for r in ladder()]
    assert metrics(same)["drift.length_tokens"].note == "every output of the baseline has the same length"


def test_what_cannot_be_measured_says_why(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    bare = [
        r.model_copy(update={"checks": {}, "canonical": ""})
        for r in ladder()
        if r.policy != "oracle" and r.sample == 0 and not r.greedy
    ]
    report = audit(bare, policy="grpo", baseline="sft")
    assert {metric.name: metric.note for metric in report.unmeasured} == {
        "collapse.uniq.sft": "no canonical form of any answer is recorded",
        "collapse.uniq.grpo": "no canonical form of any answer is recorded",
        "omission.applicable_checks": "the oracle's answers are not recorded",
        "exploits.paid": "the environment was not given",
        "groups.saturated": "one sample an episode makes no group",
        "groups.dead": "one sample an episode makes no group",
    }
    assert report.exit_code == 0


def countdown_records(env: Countdown, episodes: int = 12) -> list[RecordedCompletion]:
    own = env.episodes("dev")[:episodes]
    return [
        record
        for policy, answer in (("sft", env.random), ("grpo", env.oracle))
        for record in evaluate_reference(env, own, policy, answer, split="dev")
    ]


def test_the_exploit_battery_is_replayed(countdown: Countdown) -> None:
    found = metrics(countdown_records(countdown), countdown)["exploits.paid"]
    assert (found.value, found.n, found.alarm) == (0.0, 12, False)
    assert set(found.detail) == {exploit.name for exploit in countdown.exploits()}


def test_an_exploit_that_pays_raises_the_alarm(countdown: Countdown, monkeypatch: pytest.MonkeyPatch) -> None:
    episode = countdown.episodes("dev")[0]
    gift = Exploit("gift", episode, countdown.oracle(episode))
    monkeypatch.setattr(Countdown, "exploits", lambda self: [gift])
    report = audit(countdown_records(countdown), policy="grpo", baseline="sft", env=countdown)
    assert report.exit_code == 2
    assert "exploits.paid: 1.000, threshold: any" in report.alarms


def test_an_environment_without_exploits_is_not_measured(countdown: Countdown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Countdown, "exploits")
    found = metrics(countdown_records(countdown), countdown)["exploits.paid"]
    assert (found.value, found.note) == (None, "environment 'countdown' names no exploits")


def test_another_reward_than_the_one_that_judged_is_refused(countdown: Countdown) -> None:
    records = countdown_records(countdown)
    countdown.reward = replace(countdown.reward, version="countdown@2")
    with pytest.raises(UsageError, match=r"judged by countdown:.*give it the options of the run"):
        audit(records, policy="grpo", baseline="sft", env=countdown)


def test_missing_samples_and_few_episodes_are_undecided(
    ladder: Callable[..., list[RecordedCompletion]], countdown: Countdown
) -> None:
    assert audit(ladder()[:-1], policy="grpo", baseline="sft").undecided == []
    gaps = audit(
        [r for r in ladder() if (r.policy, r.sample, r.episode_id) != ("grpo", 3, "e5")], policy="grpo", baseline="sft"
    )
    assert gaps.undecided == ["1 completions of 'grpo' could not be scored: evaluate it again"]
    assert gaps.exit_code == 3
    few = audit(countdown_records(countdown, 5), policy="grpo", baseline="sft")
    assert few.undecided == ["5 episodes are too few for any threshold: at least 10 are needed"]
    assert few.alarms == ()


def test_policies_that_are_not_there_are_refused(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    with pytest.raises(UsageError, match=r"policy 'base' \(there are: sft, grpo, oracle\)"):
        audit(ladder(), policy="grpo", baseline="base")
    with pytest.raises(UsageError, match="both are 'sft'"):
        audit(ladder(), policy="sft", baseline="sft")
    with pytest.raises(UsageError, match="'grpo' has greedy completions alone"):
        audit([r for r in ladder() if r.policy != "grpo" or r.greedy], policy="grpo", baseline="sft")


def test_a_report_survives_its_file_and_shows_tampering(
    ladder: Callable[..., list[RecordedCompletion]], tmp_path: Path
) -> None:
    report = audit(ladder(), policy="grpo", baseline="sft")
    write_report(tmp_path, report)
    assert read_report(tmp_path / "report.json").digest == report.digest
    document = json.loads((tmp_path / "report.json").read_text(), parse_constant=pytest.fail)
    document["metrics"][0]["value"] = 0.99
    (tmp_path / "report.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match=r"report\.json: this audit report was changed"):
        read_report(tmp_path / "report.json")
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(UsageError, match="no audit report"):
        read_report(tmp_path / "report.json")
    with pytest.raises(NotFoundError, match=r"absent\.json: no such file"):
        read_report(tmp_path / "absent.json")


def test_the_same_records_give_the_same_report_in_any_order(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    records = ladder()
    shuffled = sorted(records, key=lambda r: (r.policy != "sft", r.policy != "grpo", r.sample, r.episode_hash))
    assert audit(shuffled, policy="grpo", baseline="sft").digest == audit(records, policy="grpo", baseline="sft").digest


def test_markdown_and_table_hold_every_metric(ladder: Callable[..., list[RecordedCompletion]]) -> None:
    from rich.console import Console

    report: AuditReport = audit(ladder(), policy="grpo", baseline="sft")
    console = Console(width=200)
    with console.capture() as capture:
        console.print(report.to_table())
    for metric in report.metrics:
        assert f"| {metric.name} |" in report.to_markdown()
        assert f": {metric.how_to_read}\n" in report.to_markdown()
        assert metric.name in capture.get()
    assert "clean: no metric beyond its threshold" in report.to_markdown()
