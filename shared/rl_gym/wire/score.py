"""Scoring: completions of episodes in, one judgement each out, in order."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from rl_gym.gym.core import Episode
from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.wire.error import ErrorBody
from rl_gym.wire.finding import Scorecard
from rl_gym.wire.message import Completion, Digest, JsonObject, Message, Name, Reply

__all__ = ["EpisodeBody", "ScoreItem", "ScoreRequest", "ScoreResponse", "ScoreResult"]

MAX_ITEMS = 1_024


class EpisodeBody(Message):
    """A `gym.Episode` on its way between services."""

    id: str = Field(max_length=200)
    request: str = Field(max_length=16_384)
    source: str = Field(default="", max_length=200)
    data: JsonObject = Field(default_factory=dict, description="What the environment needs to judge the answer")
    judging: JsonObject = Field(default_factory=dict, description="What the judge alone needs, such as a policy")

    @classmethod
    def of(cls, episode: Episode) -> EpisodeBody:
        return cls(**episode.to_dict())

    def to_episode(self) -> Episode:
        return Episode(self.id, self.request, self.source, self.data, self.judging)


class ScoreItem(Message):
    """One completion, and the episode that it answers."""

    episode: EpisodeBody
    completion: Completion


class ScoreRequest(Message):
    """A batch, judged by one environment under one ruleset and one reward profile."""

    environment: Name = "iac"
    ruleset: Name = DEFAULT_RULESET
    profile: Name = Field(default=DEFAULT_PROFILE, description="A bare name means the newest version")
    items: Annotated[list[ScoreItem], Field(min_length=1, max_length=MAX_ITEMS)]


class ScoreResult(Reply):
    """The judgement of one item, or why there is none. A fault of ours is an error here, never a reward of 0."""

    scorecard: Scorecard | None = None
    error: ErrorBody | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> ScoreResult:
        if (self.scorecard is None) == (self.error is None):
            raise ValueError("either a scorecard or an error is needed")
        return self


class ScoreResponse(Reply):
    """One result an item, in the order of the request."""

    environment: Name
    ruleset: Name
    profile: Name = Field(description="With its version")
    digest: Digest = Field(description="Of everything that decided: scores with another digest are not comparable")
    results: list[ScoreResult]
