"""The settings of a deployment, from environment variables named `RL_GYM_<FIELD>`; typed, with a sentence each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from rl_gym.infra.errors import UsageError

__all__ = ["Settings", "load_settings"]


class Settings(BaseSettings):
    """Where rl-gym keeps things. A service adds settings of its own in a subclass."""

    model_config = SettingsConfigDict(env_prefix="RL_GYM_", frozen=True, extra="ignore")

    data: Path | None = Field(default=None, description="Folder with the public corpora")
    runs: Path = Field(default=Path("runs"), description="Folder of the run folders, relative to the working directory")
    objects: str = Field(default="runs/objects", description="Address of the object store: a path or file:///path")


def load_settings(**values: Any) -> Settings:
    """Read the environment; `values` go before it. Raises UsageError with the variable's name and what was wrong."""
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = "RL_GYM_" + "_".join(map(str, first["loc"])).upper()
        raise UsageError(f"{name}: {first['msg']}") from None
