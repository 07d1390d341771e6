"""The settings of the trainer, from `RL_GYM_TRAINER_<FIELD>`, else `RL_GYM_<FIELD>`."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import ClassVar

from pydantic import Field, ValidationInfo, field_validator

from rl_gym.infra.settings import ServiceSettings

__all__ = ["MIGRATIONS", "TrainerSettings"]

MIGRATIONS = Path(__file__).parent / "migrations"

_BEATS = 3


class TrainerSettings(ServiceSettings):
    """What stages use, how long a worker may be silent or busy, how often a stage is tried, what may be asked."""

    service: ClassVar[str] = "trainer"

    port: int = Field(default=8083, ge=0, le=65_535, description="Port to listen on; 0 takes a free one")

    verifier: str = Field(
        default="", description="Address of the verifier whose scores are GRPO's reward; else training judges by itself"
    )
    signing_key: str = Field(default="", description="File of the private key that signs for the verifier who calls")
    policy: str = Field(
        default="", description="Address of the policy service that a bake-off and evaluate.through=policy ask"
    )
    tolerance: float = Field(
        default=0.05,
        gt=0,
        le=1,
        description="The most loss of reward that a spec may have a gate let pass: whoever may train promotes by it",
    )
    promotion_key: str = Field(
        default="", description="File of the private key that signs the pointer; without one nothing is promoted"
    )
    promotion_keys: str = Field(
        default="",
        description="Public keys whose promotions are believed, as in `principal_keys`; else the public half of "
        "`promotion_key`",
    )

    lease_seconds: float = Field(
        default=45, gt=0, description="Silence of a worker after which its stage is somebody else's"
    )
    heartbeat_seconds: float = Field(
        default=5,
        gt=0,
        validate_default=True,
        description="How often a worker says that it is at work: three times in a lease at least",
    )
    reconcile_seconds: float = Field(default=15, gt=0, description="How often what was lost is looked for")
    resend_seconds: float = Field(
        default=60, gt=0, description="Time after which a stage that nobody began is sent again"
    )
    attempts: int = Field(
        default=4, ge=1, le=100, description="How often a stage may fail before it waits for a person"
    )
    retry_seconds: float = Field(
        default=15, ge=0, description="Pause after a first failure; each further one is four times as long"
    )
    open_runs: int = Field(default=1_000, ge=1, description="Runs that wait or run at a time; more are refused")
    stage_seconds: float = Field(default=24 * 3_600, gt=0, description="Time that one attempt at a stage may take")
    machine: str = Field(
        default="",
        max_length=100,
        description="Name of this machine, whose workers train one at a time; else its host's name",
    )
    scratch_seconds: float = Field(
        default=24 * 3_600, ge=0, description="How long a worker keeps on its disk what is left of a run that has ended"
    )

    flywheel_seconds: float = Field(
        default=0, ge=0, description="How often a flywheel of `flywheel_spec` begins by itself; 0 for never"
    )
    flywheel_spec: str = Field(
        default="", description="What to run then, a RunSpec of mode flywheel in JSON, without a key"
    )

    files: str = Field(
        default="",
        description="Folders below which a spec may name files and models, separated by colons; without any, none. "
        "Who is served without `principal_keys` may name whatever there is",
    )
    body_bytes: int = Field(default=1 << 20, ge=1_024, description="Size of a body")
    body_values: int = Field(default=20_000, ge=100, description="Commas and brackets in a body, in its text too")
    streams: int = Field(default=64, ge=1, description="Requests for events that wait for some at a time")
    stream_seconds: float = Field(
        default=3_600, gt=0, description="Time after which a stream of events ends, to be gone on with by its reader"
    )
    downloads: int = Field(default=16, ge=1, description="Files, lists of files and documents that are sent at a time")

    @property
    def machine_name(self) -> str:
        """What this machine is called among those that do stages."""
        return self.machine or socket.gethostname()[:100]

    @field_validator("heartbeat_seconds")
    @classmethod
    def _in_time(cls, heartbeat: float, others: ValidationInfo) -> float:
        """A stage whose worker is well must not be somebody else's since one heartbeat was late."""
        lease = others.data.get("lease_seconds")
        if lease is not None and lease < _BEATS * heartbeat:
            raise ValueError(
                f"{heartbeat:g} s between heartbeats are too many for leases of {lease:g} s: a lease takes "
                f"{_BEATS} of them at least, so lower it or raise {cls.variable('lease_seconds')}"
            )
        return heartbeat
