"""The one shape of an error at every boundary."""

from __future__ import annotations

from pydantic import Field

from rl_gym.wire.message import Line, Reply

__all__ = ["ErrorBody"]


class ErrorBody(Reply):
    """Why something was refused or failed."""

    error: str = Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64, description="The machine's word: `RlGymError.code`")
    detail: Line = Field(description="One sentence: what was wrong, where, what to do")
    request_id: str = Field(default="", max_length=64, description="Names the request in the logs of every service")
