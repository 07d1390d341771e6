"""One attempt at a stage: claimed, kept alive while it works, and finished, failed or given back."""

from __future__ import annotations

import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import stamina
import structlog

from rl_gym.infra.errors import InfrastructureError, NotFoundError, RlGymError, UsageError, one_line
from rl_gym.wire.error import ErrorBody
from rl_gym.wire.model import Model
from rl_gym.wire.run import Run, StageProgress
from services.trainer.delivery import Delivery
from services.trainer.leases import Lease, LeaseLostError

__all__ = ["Outcome", "Pace", "Stage", "StopReason", "StoppedError", "Work", "perform"]

_log = structlog.get_logger("work")

StopReason = Literal["cancelled", "closing", "late", "lost"]
Outcome = Literal["dropped", "done", "failed", "given_back", "lost"]

T = TypeVar("T")

_LONGEST_DETAIL = 1_000

Tell = Callable[[Lease, StageProgress], None]


def _nobody(lease: Lease, progress: StageProgress) -> None:
    """Is told, and tells nobody."""


class StoppedError(Exception):
    """Raised in a stage that is to stop, by `Work.check`; no error of its own."""


class Work:
    """What a stage is given: its run, the resolved configuration, and the attempt that it is.

    A stage calls `check` between its steps, or looks at `stopped` while it waits for a process, and ends by
    returning the digest of its manifest. What it writes before that can be told from another attempt's by
    `lease.token`.
    """

    def __init__(
        self,
        lease: Lease,
        run: Run,
        config: dict[str, Any],
        add_model: Callable[[Model], Model],
        live: Tell = _nobody,
    ) -> None:
        self.lease = lease
        self.run = run
        self.config = config
        self.add_model = add_model
        """Stores a model of this run; refused once the lease is lost."""

        self.stopped = threading.Event()
        self.reason: StopReason | None = None
        self.latest: StageProgress | None = None
        self._live = live

    def progress(self, step: int, steps: int, reward: float | None = None, seconds_left: float | None = None) -> None:
        """Say how far the stage is, at once and with the next heartbeat. A mean that is no number is left out."""
        if reward is not None and not math.isfinite(reward):
            reward = None
        self.latest = StageProgress(step=step, steps=steps, reward=reward, seconds_left=seconds_left)
        self._live(self.lease, self.latest)

    def check(self) -> None:
        """Raise StoppedError where the stage is to stop."""
        if self.stopped.is_set():
            raise StoppedError(self.reason)

    def stop(self, reason: StopReason) -> None:
        """Have the stage stopped; the first reason counts."""
        if not self.stopped.is_set():
            self.reason = reason
            self.stopped.set()


Stage = Callable[[Work], str]
"""Does the work of a stage and answers with the digest of the manifest that it ended with.

It may have been begun before, and then goes on or begins anew. A UsageError is for good: another attempt would fail
as well. Anything else is tried again.
"""


@dataclass(frozen=True)
class Pace:
    """How often a worker says that it is alive, how long an attempt may take, and until when there is a worker."""

    heartbeat_seconds: float
    stage_seconds: float
    closing: Callable[[], bool] = lambda: False
    """Whether the worker is to end: then its stage is stopped, and given back for another."""


def perform(
    delivery: Delivery,
    stages: Mapping[str, Stage],
    run: str,
    stage: str,
    pace: Pace,
    live: Tell = _nobody,
) -> Outcome:
    """Do a stage that a message named, if it is to be had; a message that leads to nothing is dropped.

    `live` is told how far the stage is whenever it says so.
    """
    if stage not in stages:
        _log.error("a message names a stage that this worker does not have", run=run, stage=stage)
        return "dropped"
    claimed = time.monotonic()
    try:
        lease = delivery.claim(run, stage, _owner())
    except NotFoundError:
        _log.error("a message names what is not in this database", run=run, stage=stage)
        return "dropped"
    if lease is None:
        return "dropped"
    log = _log.bind(run=run, stage=stage, attempt=lease.token)
    log.info("a stage begins")
    try:
        outcome = _attempt(delivery, stages[stage], lease, pace, claimed, live)
    except LeaseLostError as error:
        log.warning("an attempt does not count", reason=str(error))
        outcome = "lost"
    log.info("a stage ends", outcome=outcome)
    return outcome


def _attempt(delivery: Delivery, stage: Stage, lease: Lease, pace: Pace, claimed: float, live: Tell) -> Outcome:
    work: Work | None = None
    try:
        work = _surely(lease, lambda: _work(delivery, lease, live))
        with _alive(delivery, work, pace, claimed):
            digest = stage(work)
    except LeaseLostError:
        raise
    except Exception as error:
        # Whatever is raised by a stage that is to stop, this is how it stopped.
        return _stopped(delivery, work, pace) if work and work.stopped.is_set() else _failed(delivery, lease, error)
    except BaseException as error:
        if isinstance(error, SystemExit) and not pace.closing():
            return _failed(delivery, lease, error)
        # The worker itself is told to end: that is nobody's failure, and it ends although nobody can be told.
        try:
            _surely(lease, lambda: delivery.give_back(lease))
        except RlGymError as fault:
            _log.warning("a stage cannot be given back", run=lease.run, stage=lease.stage, reason=str(fault))
        raise
    _surely(lease, lambda: delivery.finish(lease, digest))
    return "done"


def _work(delivery: Delivery, lease: Lease, live: Tell) -> Work:
    run, config = delivery.run(lease.run), delivery.config(lease.run)
    return Work(lease, run, config, lambda model: delivery.add_model(lease, model), live)


def _stopped(delivery: Delivery, work: Work, pace: Pace) -> Outcome:
    if work.reason == "lost":
        return "lost"
    if work.reason == "late":
        return _failed(delivery, work.lease, InfrastructureError(f"it took longer than {pace.stage_seconds:.0f} s"))
    _surely(work.lease, lambda: delivery.give_back(work.lease))
    return "given_back"


def _failed(delivery: Delivery, lease: Lease, error: BaseException) -> Outcome:
    body = _body(lease, error)
    _surely(lease, lambda: delivery.fail(lease, body, is_final=isinstance(error, UsageError)))
    return "failed"


def _body(lease: Lease, error: BaseException) -> ErrorBody:
    """What is kept of an error; what is no error of ours is a bug, and goes to the log whole."""
    if isinstance(error, RlGymError):
        return ErrorBody(error=error.code, detail=one_line(str(error), _LONGEST_DETAIL))
    _log.error("a stage broke", run=lease.run, stage=lease.stage, attempt=lease.token, exc_info=error)
    detail = one_line(f"{type(error).__name__}: {error}", _LONGEST_DETAIL)
    return ErrorBody(error=InfrastructureError.code, detail=detail)


def _surely(lease: Lease, ask: Callable[[], T]) -> T:
    """Tell or ask the database, again for as long as the lease would last: it may be about to come back."""
    again = stamina.retry(on=InfrastructureError, attempts=None, timeout=lease.seconds, wait_initial=0.2, wait_max=5)
    return again(ask)()


@contextmanager
def _alive(delivery: Delivery, work: Work, pace: Pace, claimed: float) -> Iterator[None]:
    """Heartbeats, from a thread of this very process: what dies with it must not seem alive.

    A second one has the work stopped where the lease is lost by our own clock, which began before the database's did:
    a heartbeat that waits for the database would be too late with that.
    """
    kept, ended = _Kept(claimed), threading.Event()
    beats = threading.Thread(
        target=_beat, args=(delivery, work, pace, claimed, kept, ended), name="heartbeat", daemon=True
    )
    watch = threading.Thread(target=_watch, args=(work, kept, ended), name="lease", daemon=True)
    for thread in (beats, watch):
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in (beats, watch):
            thread.join()


@dataclass
class _Kept:
    """When the lease was kept last, by `time.monotonic`."""

    since: float


def _watch(work: Work, kept: _Kept, ended: threading.Event) -> None:
    while (left := kept.since + work.lease.seconds - time.monotonic()) > 0:
        if ended.wait(left):
            return
    work.stop("lost")


def _beat(delivery: Delivery, work: Work, pace: Pace, claimed: float, kept: _Kept, ended: threading.Event) -> None:
    """Keep the lease, and have the work stopped where that is no longer possible or no longer wanted."""
    told: StageProgress | None = None
    while work.reason != "lost" and (not ended.wait(pace.heartbeat_seconds) or work.latest is not told):
        now = time.monotonic()
        if pace.closing():
            work.stop("closing")
        if now - claimed > pace.stage_seconds:
            work.stop("late")
        try:
            told = work.latest
            if delivery.heartbeat(work.lease, told):
                work.stop("cancelled")
            kept.since = now
        except LeaseLostError:
            work.stop("lost")
            return
        except Exception as error:
            _log.warning(
                "a heartbeat failed",
                run=work.lease.run,
                stage=work.lease.stage,
                reason=one_line(str(error), _LONGEST_DETAIL),
            )


def _owner() -> str:
    """This attempt's worker, in words that lead to it; the host's name is cut to what a column holds."""
    return f"{socket.gethostname()[:100]}:{os.getpid()}:{secrets.token_hex(4)}"
