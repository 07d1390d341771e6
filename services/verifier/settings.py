"""The settings of the verifier, from `RL_GYM_VERIFIER_<FIELD>`, else `RL_GYM_<FIELD>`."""

from __future__ import annotations

import os
from typing import ClassVar

from pydantic import Field

from rl_gym.infra.settings import Names, ServiceSettings

__all__ = ["VerifierSettings"]


class VerifierSettings(ServiceSettings):
    """What may be asked, how much of it, and how many processes answer."""

    service: ClassVar[str] = "verifier"

    port: int = Field(default=8081, ge=0, le=65_535, description="Port to listen on; 0 takes a free one")

    environments: Names = Field(
        default=("iac", "countdown"),
        min_length=1,
        description="Environments that may be asked for: names, or package.module:factory",
    )
    engines: Names = Field(
        default=("builtin", "checkov", "opa", "terraform"),
        description="Engines that a scan may ask for; `builtin` always judges",
    )
    bundle_keys: str = Field(
        default="", description="Public keys whose bundles of generated rules are believed, as in `principal_keys`"
    )
    rule_compiler: str = Field(
        default="", description="Compiler of generated rules, package.module:function; without one there are none"
    )

    workers: int = Field(
        default_factory=lambda: min(os.cpu_count() or 1, 16), ge=1, le=256, description="Processes that score"
    )
    scan_workers: int = Field(
        default=1, ge=1, le=64, description="Processes that scan and fix, apart from those that score"
    )
    item_seconds: float = Field(default=2, gt=0, le=60, description="Time that one item may take")
    scan_seconds: float = Field(default=20, gt=0, le=300, description="Time that a built-in scan or a fix may take")
    item_memory_mib: int = Field(default=512, ge=16, description="Memory for one item, beyond an idle worker's")
    scan_memory_mib: int = Field(
        default=2_048, ge=16, description="Memory for one scan or fix, beyond an idle worker's"
    )
    worker_items: int = Field(default=50_000, ge=1, description="Items until a worker is replaced")
    queue_items: int = Field(default=4_096, ge=1, description="Items that may wait, of all requests together")
    request_seconds: float = Field(default=60, gt=0, description="Time that the items of one request may take")

    body_bytes: int = Field(default=8 << 20, ge=1_024, description="Size of the body of POST /score")
    body_values: int = Field(
        default=200_000, ge=100, description="Commas and brackets in the body of POST /score, in its text too"
    )
    item_bytes: int = Field(default=2 << 20, ge=1_024, description="Size of one item, or of the body of POST /fix")
    scan_body_bytes: int = Field(default=16 << 20, ge=1_024, description="Size of the body of POST /scan")
    scan_body_values: int = Field(
        default=1_000_000, ge=100, description="Commas and brackets in the body of POST /scan, in its text too"
    )

    cache_entries: int = Field(default=50_000, ge=0, description="Judgements that are kept; 0 keeps none")
    cache_bytes: int = Field(default=256 << 20, ge=0, description="Size of the judgements that are kept")
