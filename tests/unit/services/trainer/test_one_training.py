"""One training at a time on a machine: who lost its lease and trains on keeps the next one from beginning beside it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rl_gym.infra.errors import InfrastructureError
from rl_gym.training import supervise
from rl_gym.wire import Run, RunSpec
from services.trainer import one_training
from services.trainer.leases import Lease
from services.trainer.one_training import alone_on_machine
from services.trainer.settings import TrainerSettings
from services.trainer.work import StoppedError, Work


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrainerSettings:
    monkeypatch.setattr(one_training, "_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(one_training, "_LOOK_SECONDS", 0.01)
    return TrainerSettings(runs=tmp_path / "runs", machine="gpu/1")


def work(attempt: int = 1, resource_token: int | None = 1) -> Work:
    run = Run(id="20260101-aa", spec=RunSpec(preset="micro"), state="running", created=datetime.now(UTC), stages=[])
    return Work(Lease(run.id, "sft", "ana", attempt, 45, resource_token), run, {}, lambda model: model)


@pytest.fixture
def orphan(settings: TrainerSettings) -> Iterator[subprocess.Popen[bytes]]:
    """A process of an attempt that is at work no more, as of one whose worker is gone or frozen."""
    with alone_on_machine(settings, work()):
        process = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=supervise._inherited.get()
        )
    yield process
    process.kill()
    process.wait()


def test_none_begins_while_a_process_of_another_attempt_lives(
    settings: TrainerSettings, orphan: subprocess.Popen[bytes]
) -> None:
    with pytest.raises(InfrastructureError) as raised, alone_on_machine(settings, work(2, 2)):
        pytest.fail("two train")
    assert str(raised.value).startswith(
        "run 20260101-aa, stage sft, attempt 1 of worker ana still trains on this machine, although its lease is over: "
    )
    assert "\n" not in str(raised.value)
    orphan.kill()
    orphan.wait()
    with alone_on_machine(settings, work(2, 2)):
        pass


def test_it_begins_as_soon_as_the_other_has_ended(
    settings: TrainerSettings, orphan: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_training, "_WAIT_SECONDS", 60)
    killed = threading.Event()
    threading.Timer(0.1, lambda: (killed.set(), orphan.kill())).start()
    with alone_on_machine(settings, work(2, 2)):
        assert killed.is_set()


def test_who_is_to_stop_waits_no_longer(
    settings: TrainerSettings, orphan: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_training, "_WAIT_SECONDS", 60)
    stopped = work(2, 2)
    stopped.stop("closing")
    with pytest.raises(StoppedError), alone_on_machine(settings, stopped):
        pytest.fail("it began")


def test_what_needs_no_gpu_and_what_is_on_another_machine_waits_for_nobody(
    settings: TrainerSettings, orphan: subprocess.Popen[bytes]
) -> None:
    with alone_on_machine(settings, work(2, None)):
        pass
    with alone_on_machine(settings.model_copy(update={"machine": "gpu/2"}), work(2, 1)):
        pass
