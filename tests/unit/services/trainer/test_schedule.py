"""The flywheel by the clock: one run a period, whoever asks and however often."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tokenizers")

from rl_gym.infra.errors import UsageError
from services.trainer.schedule import due_flywheel, scheduled_spec
from services.trainer.settings import TrainerSettings
from services.trainer.worker import create_worker
from tests.unit.services.trainer.runs import Runs

HOUR = 3_600.0
SPEC: dict[str, Any] = {"preset": "micro", "mode": "flywheel", "overrides": ["flywheel.traffic=traffic/mix.jsonl"]}
NOW = datetime(2026, 1, 2, 3, 30, tzinfo=UTC)


def settings(spec: dict[str, Any] = SPEC, seconds: float = HOUR) -> TrainerSettings:
    return TrainerSettings(flywheel_seconds=seconds, flywheel_spec=json.dumps(spec))


def test_a_period_has_one_run(runs: Runs) -> None:
    run = due_flywheel(settings(), runs.delivery, NOW)
    assert run is not None
    assert [stage.stage for stage in run.stages][:2] == ["prepare", "update"]
    assert (run.spec.mode, run.spec.idempotency_key is not None) == ("flywheel", True)
    assert due_flywheel(settings(), runs.delivery, NOW + timedelta(minutes=20)) is None
    assert len(runs.delivery.runs()) == 1


def test_the_next_one_waits_for_the_one_before(runs: Runs) -> None:
    first = due_flywheel(settings(), runs.delivery, NOW)
    assert first is not None
    later = NOW + timedelta(hours=1)
    assert due_flywheel(settings(), runs.delivery, later) is None
    runs.delivery.cancel(first.id)
    second = due_flywheel(settings(), runs.delivery, later)
    assert second is not None
    assert second.id != first.id


def test_a_run_of_another_mode_is_in_nobodys_way(runs: Runs) -> None:
    runs.submit()
    assert due_flywheel(settings(), runs.delivery, NOW) is not None


def test_nothing_is_due_where_nothing_was_asked_for(runs: Runs) -> None:
    assert due_flywheel(TrainerSettings(), runs.delivery, NOW) is None


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ({}, "FLYWHEEL_SPEC: preset: Field required"),
        ({**SPEC, "mode": "pipeline"}, "FLYWHEEL_SPEC: a spec of mode flywheel is needed"),
        ({**SPEC, "idempotency_key": "mine"}, "each period has its own"),
        ({**SPEC, "preset": "mikro"}, "FLYWHEEL_SPEC: no preset 'mikro'; did you mean 'micro'"),
        ({**SPEC, "overrides": ["grpo.stepz=1"]}, "FLYWHEEL_SPEC: unknown key 'grpo.stepz'"),
    ],
)
def test_what_is_no_spec_of_a_flywheel_is_refused(spec: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        scheduled_spec(settings(spec))


def test_a_spec_that_cannot_be_run_begins_nothing(runs: Runs) -> None:
    with pytest.raises(UsageError, match=r"mode flywheel needs flywheel\.traffic"):
        due_flywheel(settings({**SPEC, "overrides": []}), runs.delivery, NOW)
    assert runs.delivery.runs() == []


def test_a_spec_that_cannot_be_run_is_told_at_the_start() -> None:
    with pytest.raises(UsageError, match=r"FLYWHEEL_SPEC: preset 'micro': mode flywheel needs flywheel\.traffic"):
        create_worker(settings({**SPEC, "overrides": []}), "redis://127.0.0.1:1", {})


@pytest.mark.parametrize(("seconds", "entries"), [(0.0, ["reconcile"]), (HOUR, ["flywheel", "reconcile"])])
def test_beat_looks_for_it_where_there_is_one(tmp_path: Path, seconds: float, entries: list[str]) -> None:
    app = create_worker(settings(seconds=seconds), "redis://127.0.0.1:1", {})
    assert sorted(app.conf.beat_schedule) == entries
    assert {entry["options"]["queue"] for entry in app.conf.beat_schedule.values()} == {"trainer-control"}
    assert app.conf.beat_schedule.get("flywheel", {"schedule": 60.0})["schedule"] == 60.0
