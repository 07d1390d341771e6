"""Runs that begin by the clock: a flywheel once a period, without anybody who asks for it."""

from __future__ import annotations

from datetime import datetime

import structlog
from pydantic import ValidationError

from rl_gym.gym.core import content_hash
from rl_gym.infra.errors import UsageError
from rl_gym.training.config import resolve
from rl_gym.wire.message import refusal
from rl_gym.wire.run import Run, RunSpec
from services.trainer.delivery import Delivery
from services.trainer.settings import TrainerSettings
from services.trainer.submission import checked, stage_plan

__all__ = ["due_flywheel", "scheduled_spec"]

_log = structlog.get_logger("schedule")

_SHORT = 12


def scheduled_spec(settings: TrainerSettings) -> RunSpec | None:
    """What the settings have begun once a period, None for nothing; UsageError for what is no spec of a flywheel.

    It is resolved, so that a key or preset that there is not is told when a part starts, and not once a minute.
    """
    if not settings.flywheel_seconds:
        return None
    variable = settings.variable("flywheel_spec")
    try:
        spec = RunSpec.model_validate_json(settings.flywheel_spec or "{}")
    except ValidationError as error:
        raise UsageError(f"{variable}: {refusal(error)}") from None
    if spec.mode != "flywheel" or spec.idempotency_key is not None:
        raise UsageError(f"{variable}: a spec of mode flywheel is needed, without a key: each period has its own")
    try:
        resolve(spec.preset, spec.overrides, seed=spec.seed, mode=spec.mode)
    except UsageError as error:
        raise UsageError(f"{variable}: {error}") from None
    return spec


def due_flywheel(settings: TrainerSettings, delivery: Delivery, now: datetime) -> Run | None:
    """Submit the flywheel of the period that `now` lies in; None where it was submitted, or the one before goes on.

    However many ask, the key of the period makes it one run. Raises UsageError for a spec that cannot end well.
    """
    spec = scheduled_spec(settings)
    if spec is None:
        return None
    period = int(now.timestamp() // settings.flywheel_seconds)
    digest = content_hash(spec.model_dump(mode="json"))[:_SHORT]
    keyed = spec.model_copy(update={"idempotency_key": f"flywheel-{digest}-{period}"})
    if delivery.known(keyed) is not None or _goes_on(delivery):
        return None
    config = checked(keyed, settings, works_here=False)
    run = delivery.submit(keyed, config.model_dump(mode="json"), stage_plan(config))
    _log.info("a flywheel begins", run=run.id, period=period)
    return run


def _goes_on(delivery: Delivery) -> bool:
    """Whether a flywheel is under way: two at once would train from the same incumbent, and one in vain."""
    under_way = [run for state in ("waiting", "running") for run in delivery.runs(state=state, limit=1_000)]
    return any(run.spec.mode == "flywheel" for run in under_way)
