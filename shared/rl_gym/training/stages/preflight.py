"""What is known to go wrong in a run before anything of it is made: a stage would find out after hours of training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rl_gym.gym.core import Environment
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.training.chain import candidate, incumbent
from rl_gym.training.config import Config
from rl_gym.training.stages.drift import environment_before
from rl_gym.training.stages.jobs import environment

__all__ = ["require_sound", "require_stages"]

_COMPARES = ("repair", "drift")
"""Modes whose evaluation itself holds the candidate against the incumbent."""


def require_stages(config: Config, last: str) -> None:
    """Raise UsageError where a run has no stage `last`, or one up to it compares a policy that is not evaluated."""
    if last not in config.stages:
        raise UsageError(f"there is no stage {last!r}: choose one of {', '.join(config.stages)}")
    done = config.stages[: config.stages.index(last) + 1]
    compares = [stage for stage in done if stage == "audit" or (stage == "evaluate" and config.mode in _COMPARES)]
    missing = [side for side in (incumbent(config.stages), candidate(config.stages)) if side not in config.policies]
    if compares and missing:
        raise UsageError(
            f"evaluate.policies leaves out {' and '.join(missing)}, which stage {compares[0]} compares: add "
            f"{'it' if len(missing) == 1 else 'them'}, or end the run before by `rl-gym pipeline --until`"
        )


def require_sound(config: Config, last: str, *, here: bool = True) -> Environment:
    """The environment of a run, once that, the rules before a drift and the anchor are known to be there.

    Raises as `require_stages`, and NotFoundError or UsageError with the name that leads nowhere. Where the run is not
    done `here` its anchor may be on the machines alone that do it, and is not looked for.
    """
    require_stages(config, last)
    env = environment(config)
    if config.mode == "drift":
        with _named("drift.before"):
            environment_before(config)
    if here and "prepare" in config.stages:
        with _named("evaluate.anchor"):
            env.episodes(config.evaluate.anchor)
    return env


@contextmanager
def _named(key: str) -> Iterator[None]:
    """Say which key names what is not there."""
    try:
        yield
    except NotFoundError as error:
        raise NotFoundError(f"{key}: {error}") from None
