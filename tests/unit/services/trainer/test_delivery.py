"""Runs from their submission to their end: who works on a stage, what is accepted, what is sent, and what is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rl_gym.infra.errors import BusyError, ConflictError, NotFoundError, UsageError
from rl_gym.wire import Model, RunSpec, StageProgress
from services.trainer.delivery import StagePlan
from services.trainer.leases import LeaseLostError, Terms
from services.trainer.repository import Repository
from tests.unit.services.trainer.runs import DIGEST, FAULT, PLAN, TERMS, Runs

OTHER = "ba9876543210"


def test_a_run_goes_through_its_stages_in_order(runs: Runs) -> None:
    run = runs.submit()
    assert runs.states(run) == ["waiting", "waiting", "waiting", "waiting"]
    for stage in PLAN:
        assert runs.take_sent() == [(run.id, stage.name)]
        runs.delivery.finish(runs.claim(run, stage.name), DIGEST)
    assert runs.states(run) == ["done", "done", "done", "done"]
    assert [stage.manifest_digest for stage in runs.delivery.run(run.id).stages] == [DIGEST] * 3
    assert runs.take_sent() == []


def test_a_stage_is_not_to_be_had_before_its_turn_nor_twice(runs: Runs) -> None:
    run = runs.submit()
    assert runs.delivery.claim(run.id, "sft", "ana") is None
    lease = runs.claim(run, "prepare")
    assert runs.delivery.claim(run.id, "prepare", "ben") is None
    runs.delivery.finish(lease, DIGEST)
    assert runs.delivery.claim(run.id, "prepare", "ben") is None


def test_the_same_spec_under_a_key_is_the_same_run(runs: Runs) -> None:
    run = runs.submit("k")
    assert runs.submit("k").id == run.id
    assert runs.submit("l").id != run.id
    assert runs.submit().id != runs.submit().id
    with pytest.raises(ConflictError, match=f"'k' is that of run {run.id}"):
        runs.submit("k", preset="smol")


def test_a_run_that_is_older_than_a_field_with_a_default_is_the_same_run(runs: Runs) -> None:
    run = runs.submit("k")
    with runs.database.writing() as session:
        row = Repository(session).locked(run.id)
        row.spec = {name: value for name, value in row.spec.items() if name != "mode"}
    assert runs.submit("k").id == run.id
    with pytest.raises(ConflictError, match=f"'k' is that of run {run.id}"):
        runs.submit("k", preset="smol")


def test_what_a_run_was_submitted_with_is_kept(runs: Runs) -> None:
    spec = RunSpec(preset="nano", overrides=["grpo.steps=3"], seed=7, mode="drift", idempotency_key="k")
    run = runs.delivery.submit(spec, {"grpo": {"steps": 3}}, PLAN)
    assert runs.delivery.run(run.id).spec == spec
    assert runs.delivery.config(run.id) == {"grpo": {"steps": 3}}


@pytest.mark.parametrize("act", ["heartbeat", "finish", "fail", "give_back", "add_model"])
def test_nothing_is_accepted_from_an_attempt_that_another_has_replaced(runs: Runs, act: str) -> None:
    run, old = runs.until_sft()
    runs.forward(TERMS.lease_seconds)
    runs.delivery.reconcile()
    new = runs.claim(run, "sft", "ben")
    arguments = {"finish": [OTHER], "fail": [FAULT], "add_model": [model(run.id)]}.get(act, [])
    with pytest.raises(LeaseLostError, match="attempt 1 has lost its lease; it is running at attempt 2"):
        getattr(runs.delivery, act)(old, *arguments)
    runs.delivery.finish(new, DIGEST)
    assert runs.delivery.run(run.id).stages[1].manifest_digest == DIGEST


def test_a_stage_is_done_once_and_said_twice_by_the_same_attempt_alone(runs: Runs) -> None:
    run = runs.submit()
    lease = runs.claim(run, "prepare")
    runs.delivery.finish(lease, DIGEST)
    runs.delivery.finish(lease, DIGEST)
    with pytest.raises(LeaseLostError, match="it is done at attempt 1"):
        runs.delivery.finish(lease, OTHER)
    events = runs.delivery.events(run.id)
    assert [(event.stage, event.state) for event in events].count(("prepare", "done")) == 1


def test_heartbeats_keep_a_lease_and_tell_of_progress(runs: Runs) -> None:
    run, lease = runs.until_sft()
    progress = StageProgress(step=3, steps=40, reward=0.5, seconds_left=12)
    for _ in range(3):
        runs.forward(TERMS.lease_seconds - 1)
        assert runs.delivery.heartbeat(lease, progress) is False
        assert runs.delivery.reconcile() == 0
    assert runs.delivery.run(run.id).stages[1].progress == progress
    assert [event.progress for event in runs.delivery.events(run.id) if event.progress] == [progress]


def test_a_long_stage_leaves_an_event_for_each_hundredth_of_its_way(runs: Runs) -> None:
    run, lease = runs.until_sft()
    before = len(runs.delivery.events(run.id))
    steps = [StageProgress(step=step, steps=5_000, reward=step / 5_000) for step in range(1, 5_001, 10)]
    for progress in steps:
        runs.delivery.heartbeat(lease, progress)
    assert runs.delivery.run(run.id).stages[1].progress == steps[-1]
    told = runs.delivery.events(run.id, after=before)
    assert [event.progress for event in told] == [steps[0], *steps[5::5]]
    assert [event.number for event in told] == list(range(before + 1, before + 101))


def test_a_silent_worker_costs_an_attempt_and_the_last_one_the_stage(runs: Runs) -> None:
    run = runs.submit()
    for attempt in range(1, TERMS.attempts + 1):
        assert runs.claim(run, "prepare").token == attempt
        runs.forward(TERMS.lease_seconds - 1)
        runs.delivery.reconcile()
        assert runs.states(run)[1] == "running"
        runs.forward(1)
        runs.delivery.reconcile()
    assert runs.states(run) == ["dead", "dead", "waiting", "waiting"]
    assert runs.delivery.claim(run.id, "prepare", "ana") is None
    dead = runs.delivery.runs(state="dead")
    assert [one.id for one in dead] == [run.id]
    assert dead[0].stages[0].error is not None
    assert dead[0].stages[0].error.detail == "its worker fell silent: ana"


def test_a_failure_is_tried_again_after_a_growing_pause(runs: Runs) -> None:
    run = runs.submit()
    for pause in (15, 60):
        runs.delivery.fail(runs.claim(run, "prepare"), FAULT)
        runs.take_sent()
        runs.forward(pause - 1)
        assert runs.delivery.reconcile() == 0
        assert runs.delivery.claim(run.id, "prepare", "ana") is None
        runs.forward(1)
        assert runs.delivery.reconcile() == 1
    runs.delivery.fail(runs.claim(run, "prepare"), FAULT)
    assert runs.states(run)[:2] == ["dead", "dead"]


def test_a_mistake_of_the_user_is_not_tried_again(runs: Runs) -> None:
    run = runs.submit()
    runs.delivery.fail(runs.claim(run, "prepare"), FAULT, is_final=True)
    assert runs.states(run)[:2] == ["failed", "failed"]
    assert runs.delivery.run(run.id).stages[0].error == FAULT


def test_the_dead_are_revived_with_as_many_attempts_again(runs: Runs) -> None:
    run, lease = runs.until_sft()
    runs.delivery.fail(lease, FAULT, is_final=True)
    runs.take_sent()
    assert runs.delivery.retry(run.id).state == "running"
    assert runs.take_sent() == [(run.id, "sft")]
    for attempt in range(2, 2 + TERMS.attempts):
        lease = runs.claim(run, "sft")
        assert lease.token == attempt
        runs.delivery.fail(lease, FAULT)
        runs.forward(3_600)
    assert runs.states(run) == ["dead", "done", "dead", "waiting"]
    with pytest.raises(ConflictError, match="is running: only what is dead"):
        runs.delivery.retry(runs.until_sft()[0].id)


def test_what_is_given_back_was_no_attempt(runs: Runs) -> None:
    run = runs.submit()
    for _ in range(2 * TERMS.attempts):
        runs.delivery.give_back(runs.claim(run, "prepare"))
        assert runs.take_sent()[-1] == (run.id, "prepare")
    assert runs.states(run)[:2] == ["waiting", "waiting"]


def test_a_cancelled_run_begins_nothing_and_its_worker_learns_of_it(runs: Runs) -> None:
    run, lease = runs.until_sft()
    assert runs.delivery.cancel(run.id).state == "running"
    assert runs.delivery.cancel(run.id).state == "running"
    assert runs.states(run) == ["running", "done", "running", "cancelled"]
    assert runs.delivery.heartbeat(lease) is True
    runs.delivery.give_back(lease)
    assert runs.states(run) == ["cancelled", "done", "cancelled", "cancelled"]
    runs.take_sent()
    assert (runs.delivery.reconcile(), runs.take_sent()) == (0, [])


@pytest.mark.parametrize("end", ["silent", "failed"])
def test_a_cancelled_stage_is_not_tried_again(runs: Runs, end: str) -> None:
    run, lease = runs.until_sft()
    runs.delivery.cancel(run.id)
    if end == "failed":
        runs.delivery.fail(lease, FAULT)
    runs.forward(TERMS.lease_seconds)
    runs.delivery.reconcile()
    assert runs.states(run) == ["cancelled", "done", "cancelled", "cancelled"]


def test_what_was_finished_before_the_worker_learned_of_the_end_counts(runs: Runs) -> None:
    run, lease = runs.until_sft()
    runs.delivery.cancel(run.id)
    runs.delivery.finish(lease, DIGEST)
    assert runs.states(run) == ["cancelled", "done", "done", "cancelled"]


def test_a_run_that_is_done_cannot_be_cancelled_and_one_that_is_dead_can(runs: Runs) -> None:
    done = runs.delivery.submit(RunSpec(preset="nano"), {}, PLAN[:1])
    runs.delivery.finish(runs.claim(done, "prepare"), DIGEST)
    with pytest.raises(ConflictError, match="is done"):
        runs.delivery.cancel(done.id)
    dead = runs.submit()
    runs.delivery.fail(runs.claim(dead, "prepare"), FAULT, is_final=True)
    assert runs.delivery.cancel(dead.id).state == "cancelled"


def test_one_stage_at_a_time_has_the_gpu_and_the_next_is_told_when_it_is_free(runs: Runs) -> None:
    _, first = runs.until_sft()
    second = runs.submit()
    runs.delivery.finish(runs.claim(second, "prepare"), DIGEST)
    runs.take_sent()
    assert runs.delivery.claim(second.id, "sft", "ben") is None
    assert (runs.delivery.reconcile(), runs.take_sent()) == (0, [])
    runs.delivery.finish(first, DIGEST)
    assert (second.id, "sft") in runs.take_sent()
    assert [first.resource_token, runs.claim(second, "sft").resource_token] == [1, 2]


def test_each_machine_has_a_gpu_of_its_own_and_a_stage_is_told_while_one_of_them_is_free(runs: Runs) -> None:
    here, there = runs.on("here"), runs.on("there")
    here.enlist("gpu")
    there.enlist("gpu")
    made = [runs.submit() for _ in range(3)]
    for run in made:
        runs.delivery.finish(runs.claim(run, "prepare"), DIGEST)
    first = here.claim(made[0].id, "sft", "ana")
    assert first is not None
    runs.take_sent()
    runs.forward(TERMS.resend_seconds)
    here.heartbeat(first)
    # On this machine it is taken, and on the other one it is not.
    assert here.claim(made[1].id, "sft", "ben") is None
    assert runs.delivery.reconcile() == 2
    second = there.claim(made[1].id, "sft", "cem")
    assert second is not None
    runs.take_sent()
    assert (here.claim(made[2].id, "sft", "ben"), there.claim(made[2].id, "sft", "cem")) == (None, None)
    assert (runs.delivery.reconcile(), runs.take_sent()) == (0, [])
    # Whoever ends it, from wherever.
    runs.delivery.finish(second, DIGEST)
    assert (made[2].id, "sft") in runs.take_sent()
    assert here.claim(made[2].id, "sft", "ben") is None
    third = there.claim(made[2].id, "sft", "cem")
    assert third is not None
    assert [first.resource_token, second.resource_token, third.resource_token] == [1, 1, 2]


def test_a_machine_that_fell_silent_has_its_gpu_again_and_its_stage_is_done_elsewhere(runs: Runs) -> None:
    here, there = runs.on("here"), runs.on("there")
    run, other = runs.submit(), runs.submit()
    for one in (run, other):
        runs.delivery.finish(runs.claim(one, "prepare"), DIGEST)
    assert here.claim(run.id, "sft", "ana") is not None
    runs.forward(TERMS.lease_seconds)
    runs.delivery.reconcile()
    lease = there.claim(run.id, "sft", "cem")
    assert lease is not None
    assert lease.token == 2
    assert here.claim(other.id, "sft", "ana") is not None


@pytest.mark.parametrize("end", ["silent", "failed", "given back"])
def test_the_gpu_is_free_again_however_an_attempt_ends(runs: Runs, end: str) -> None:
    _, lease = runs.until_sft()
    if end == "failed":
        runs.delivery.fail(lease, FAULT)
    elif end == "given back":
        runs.delivery.give_back(lease)
    else:
        runs.forward(TERMS.lease_seconds)
        runs.delivery.reconcile()
    other = runs.submit()
    runs.delivery.finish(runs.claim(other, "prepare"), DIGEST)
    assert runs.claim(other, "sft").resource_token == 2


def test_what_could_not_be_sent_is_sent_later(runs: Runs) -> None:
    runs.is_queue_down = True
    run = runs.submit()
    assert runs.delivery.reconcile() == 0
    runs.is_queue_down = False
    assert (runs.delivery.reconcile(), runs.take_sent()) == (1, [(run.id, "prepare")])


def test_what_was_sent_and_lost_is_sent_again_but_not_at_once(runs: Runs) -> None:
    run = runs.submit()
    runs.take_sent()
    runs.forward(TERMS.resend_seconds - 1)
    assert runs.delivery.reconcile() == 0
    runs.forward(1)
    assert (runs.delivery.reconcile(), runs.take_sent()) == (1, [(run.id, "prepare")])


def test_nothing_is_sent_again_while_as_many_messages_wait_as_stages_can_be_claimed(runs: Runs) -> None:
    made = []
    for _ in range(3):
        runs.forward(1)
        made.append((runs.submit().id, "prepare"))
    assert runs.take_sent() == made
    runs.forward(TERMS.resend_seconds)
    for queued in (5, 3):
        runs.queued = queued
        assert (runs.delivery.reconcile(), runs.take_sent()) == (0, [])
    runs.queued = 2
    assert (runs.delivery.reconcile(), runs.take_sent()) == (1, made[:1])
    runs.queued = 0
    assert (runs.delivery.reconcile(), runs.take_sent()) == (2, made[1:])


def test_what_nobody_was_told_of_is_sent_however_many_messages_wait(runs: Runs) -> None:
    runs.queued = 1_000
    run = runs.submit()
    assert runs.take_sent() == [(run.id, "prepare")]


def test_a_queue_that_does_not_answer_is_not_sent_to_again(runs: Runs) -> None:
    run = runs.submit()
    runs.take_sent()
    runs.forward(TERMS.resend_seconds)
    runs.is_queue_down = True
    assert (runs.delivery.reconcile(), runs.take_sent()) == (0, [])
    runs.is_queue_down = False
    assert (runs.delivery.reconcile(), runs.take_sent()) == (1, [(run.id, "prepare")])


def test_a_reader_of_events_goes_on_where_it_stopped(runs: Runs) -> None:
    run, lease = runs.until_sft()
    first = runs.delivery.events(run.id)
    assert [event.number for event in first] == list(range(1, len(first) + 1))
    assert [(event.stage, event.state) for event in first] == [
        (None, "waiting"),
        ("prepare", "running"),
        (None, "running"),
        ("prepare", "done"),
        ("sft", "running"),
    ]
    runs.delivery.fail(lease, FAULT)
    (failed,) = runs.delivery.events(run.id, after=first[-1].number)
    assert (failed.number, failed.stage, failed.state) == (len(first) + 1, "sft", "failed")
    assert failed.detail == "attempt 1: the disk is full"
    assert runs.delivery.events(run.id, after=2, limit=2) == first[2:4]


def test_what_there_is_not_is_named(runs: Runs) -> None:
    run = runs.submit()
    with pytest.raises(NotFoundError, match="no run 'x'"):
        runs.delivery.run("x")
    with pytest.raises(NotFoundError, match="no run 'x'"):
        runs.delivery.events("x")
    with pytest.raises(NotFoundError, match="has no stage 'sleep', but prepare, sft, gate"):
        runs.delivery.claim(run.id, "sleep", "ana")


def test_the_latest_runs_come_first(runs: Runs) -> None:
    made = []
    for _ in range(3):
        runs.forward(1)
        made.append(runs.submit().id)
    assert [run.id for run in runs.delivery.runs(limit=2)] == made[:0:-1]
    assert runs.delivery.runs(state="dead") == []


def model(run: str, digest: str = DIGEST) -> Model:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    return Model(
        name="nano-1",
        base="nano-base",
        adapter_digest=digest,
        data_digest=DIGEST,
        ruleset_digest=DIGEST,
        code_version="1",
        run=run,
        created=now,
    )


def test_a_model_is_stored_once_with_its_lineage(runs: Runs) -> None:
    run, lease = runs.until_sft()
    assert runs.delivery.add_model(lease, model(run.id)) == model(run.id)
    assert runs.delivery.add_model(lease, model(run.id)) == model(run.id)
    assert runs.delivery.models() == [model(run.id)]
    with pytest.raises(ConflictError, match="'nano-1' is there already"):
        runs.delivery.add_model(lease, model(run.id, OTHER))


def test_a_model_is_of_the_run_that_stores_it(runs: Runs) -> None:
    _, lease = runs.until_sft()
    with pytest.raises(UsageError, match="stores its own alone"):
        runs.delivery.add_model(lease, model(runs.submit().id))


def test_no_more_runs_are_open_than_may_be(tmp_path: Path) -> None:
    runs = Runs(tmp_path, terms=replace(TERMS, open_runs=2))
    runs.submit("k")
    second = runs.submit()
    with pytest.raises(BusyError, match="2 runs wait or run already"):
        runs.submit()
    assert runs.submit("k").state == "waiting"
    runs.delivery.cancel(second.id)
    assert runs.submit().state == "waiting"
    runs.database.close()


@pytest.mark.parametrize("names", [[], ["sft", "gate", "sft"]])
def test_a_run_has_stages_each_once(runs: Runs, names: list[str]) -> None:
    with pytest.raises(UsageError, match="needs stages, each once"):
        runs.delivery.submit(RunSpec(preset="nano"), {}, [StagePlan(name) for name in names])


def test_pauses_grow_and_stay_within_a_month() -> None:
    assert [Terms(retry_seconds=15).pause(failures).total_seconds() for failures in (1, 2, 3)] == [15, 60, 240]
    assert Terms(retry_seconds=15).pause(10**6).days < 30
