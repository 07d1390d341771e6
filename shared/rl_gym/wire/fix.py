"""Fixing: a completion in, what the fixers make of it out. That is no model's work, and never trains as one's own."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rl_gym.gym.core import Environment, Episode, environment_faults
from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.wire.finding import Scorecard
from rl_gym.wire.message import Completion, Message, Name, Reply
from rl_gym.wire.score import EpisodeBody

__all__ = ["FixRequest", "FixResponse", "Fixed"]


class FixRequest(Message):
    """One completion, the episode that it answers, and what it is judged by."""

    environment: Name = "iac"
    ruleset: Name = DEFAULT_RULESET
    profile: Name = DEFAULT_PROFILE
    episode: EpisodeBody
    completion: Completion


class Fixed(Reply):
    """A completion with what is mechanical mended, and its judgement."""

    completion: Completion
    scorecard: Scorecard

    @classmethod
    def of(cls, env: Environment, episode: Episode, completion: str) -> Fixed | None:
        """Fix and judge; None where nothing is changed, or the environment has no fixers.

        Raises InfrastructureError where the environment itself fails.
        """
        optional: Any = env
        with environment_faults(env, episode):
            action = env.parse(completion, episode)
            text = optional.fix(action, episode) if action is not None and hasattr(env, "fix") else None
        return None if text is None else cls(completion=text, scorecard=Scorecard.of(env, episode, text))


class FixResponse(Reply):
    """What came of it."""

    fixed: Fixed | None = Field(default=None, description="Null where the fixers change nothing")
