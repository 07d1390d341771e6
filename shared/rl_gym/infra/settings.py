"""The settings of a deployment, from environment variables named `RL_GYM_<FIELD>`; typed, with a sentence each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from rl_gym.infra.errors import UsageError

__all__ = [
    "ALLOWED_WEIGHTS",
    "Names",
    "ServiceSettings",
    "Settings",
    "load_settings",
    "read_settings",
    "unknown_variables",
]

S = TypeVar("S", bound="Settings")


def _listed(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
"""Names, separated by commas."""

ALLOWED_WEIGHTS = ("packaged", "folder", "gguf", "hub:HuggingFaceTB", "hub:ibm-granite", "hub:Qwen")
"""Sources of models that may be used where nobody said otherwise: what is here, and whom the presets take from."""


class Settings(BaseSettings):
    """Where rl-gym keeps things. A service adds settings of its own in a subclass."""

    model_config = SettingsConfigDict(env_prefix="RL_GYM_", frozen=True, extra="ignore", allow_inf_nan=False)

    data: Path | None = Field(default=None, description="Folder with the public corpora")
    runs: Path = Field(default=Path("runs"), description="Folder of the run folders, relative to the working directory")
    objects: str = Field(
        default="runs/objects", description="Address of the object store: a path, or s3://bucket/prefix"
    )
    database: SecretStr = Field(
        default=SecretStr(""),
        description="Address of the database, postgresql://... or sqlite:///path; else a file of SQLite in `runs`",
    )
    redis: SecretStr = Field(
        default=SecretStr(""), description="Address of Redis, redis://... or rediss://...; else one is started here"
    )
    weights: Names = Field(
        default=ALLOWED_WEIGHTS,
        description="Where models may come from: packaged, folder, gguf, hub or s3, or beginnings as hub:ORG, "
        "s3://BUCKET/PREFIX and folder:/FOLDER",
    )
    weights_bytes: int = Field(default=64 << 30, ge=1, description="The most bytes that a fetched model may have")
    weights_cache: Path = Field(default=Path("runs/weights"), description="Folder for fetched and converted models")
    boundary: Literal["open", "closed"] = Field(
        default="open", description="`closed` lets nothing ask a model outside of the deployment"
    )
    checkov_python: Path | None = Field(default=None, description="Python that has Checkov; else that of .venv-checkov")
    checkov_workers: int = Field(
        default=2, ge=1, le=64, description="The most Checkov processes of one process of ours"
    )
    terraform: str = Field(
        default="terraform", description="Program of the engine terraform: a path, or a name on PATH"
    )
    policies: Path | None = Field(default=None, description="Folder of .rego files for the engine opa; else policies")
    plugin_mirror: Path | None = Field(default=None, description="Filesystem mirror of Terraform providers")
    engine_seconds: float | None = Field(
        default=None, gt=0, le=600, description="The most that a scan engine takes for a module; else each engine's own"
    )

    @classmethod
    def variable(cls, field: str) -> str:
        """The environment variable that decides about a field."""
        return f"RL_GYM_{field.upper()}"


class ServiceSettings(Settings):
    """What every service can be told; `RL_GYM_<SERVICE>_<FIELD>` is for one of them, and before `RL_GYM_<FIELD>`."""

    service: ClassVar[str]

    host: str = Field(default="127.0.0.1", description="Address to listen on; only loopback without `principal_keys`")
    port: int = Field(default=8080, ge=0, le=65_535, description="Port to listen on; 0 takes a free one")
    principal_keys: str = Field(
        default="",
        description="Public keys whose principals are believed: base64 or files of PEM, separated by commas. "
        "Without any, only callers of this very machine are served",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least important event that is logged"
    )
    in_flight: int = Field(default=64, ge=1, description="Requests with a body that are read and served at a time")
    body_seconds: float = Field(default=30, gt=0, description="Time that the body of a request may take to arrive")
    drain_seconds: int = Field(default=30, ge=0, description="Time that requests have to finish after SIGTERM")

    @classmethod
    def variable(cls, field: str) -> str:
        own = f"{cls.prefix()}{field.upper()}"
        return own if own in map(str.upper, os.environ) else super().variable(field)

    @classmethod
    def prefix(cls) -> str:
        """What the variables begin with that are for this service alone."""
        return f"RL_GYM_{cls.service.upper()}_"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        own = EnvSettingsSource(settings_cls, env_prefix=cls.prefix())
        return init_settings, own, env_settings


def load_settings(**values: Any) -> Settings:
    """Read the environment; `values` go before it. Raises UsageError with the variable's name and what was wrong."""
    return read_settings(Settings, **values)


def read_settings(kind: type[S], **values: Any) -> S:
    """As `load_settings`, for the settings of a service."""
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        said = str(first["msg"]).removeprefix("Value error, ")
        raise UsageError(f"{kind.variable(str(first['loc'][0]))}: {said}") from None


def unknown_variables(kind: type[ServiceSettings]) -> list[str]:
    """The environment variables that are named like settings of a service, and are none."""
    prefix = kind.prefix()
    known = {f"{prefix}{name.upper()}" for name in kind.model_fields}
    return sorted(name for name in map(str.upper, os.environ) if name.startswith(prefix) and name not in known)
