"""What a machine lends to the stages that run on it. Nothing of it is a run's own: another machine may lend other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rl_gym.infra.object_store import ObjectStore
    from rl_gym.infra.signing import KeyRing, SigningKey

__all__ = ["Means"]


@dataclass(frozen=True, kw_only=True)
class Means:
    """Services, the object store and keys, each None or empty where there is none; a stage that needs one says so."""

    verifier: Mapping[str, str] | None = None
    """Of a verifier whose scores are the reward, as `job["verifier"]` has it; else training judges by itself."""

    policy: str = ""
    """Address of the policy service that a bake-off, and an evaluation through it, ask."""

    signing_key: str = ""
    """File of the private key that signs for services who calls; without one they serve this machine alone."""

    store: ObjectStore | None = None
    """Where models are published, and where the pointer to the promoted one lies."""

    promotion_key: SigningKey | None = None
    """Signs the pointer; without one nothing is promoted."""

    promotion_keys: KeyRing | None = None
    """Who is believed about the model that is promoted now."""
