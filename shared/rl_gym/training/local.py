"""What this machine lends to stages where no service hosts them: from the settings of whoever runs the command."""

from __future__ import annotations

from pydantic import Field

from rl_gym.infra.extras import extra
from rl_gym.infra.object_store import open_store
from rl_gym.infra.settings import Settings, read_settings
from rl_gym.training.means import Means

__all__ = ["StageSettings", "local_means"]


class StageSettings(Settings):
    """What stages use beside the run folder; the trainer service has the same under the same names."""

    policy: str = Field(default="", description="Address of the policy service that a bake-off asks")
    signing_key: str = Field(default="", description="File of the private key that signs for services who calls")
    promotion_key: str = Field(
        default="", description="File of the private key that signs the pointer; without one nothing is promoted"
    )
    promotion_keys: str = Field(
        default="", description="Public keys whose promotions are believed; else the public half of `promotion_key`"
    )


def local_means() -> Means:
    """The means of `RL_GYM_OBJECTS` and of the variables of `StageSettings`, such as `RL_GYM_PROMOTION_KEY`.

    Raises UsageError and NotFoundError for what is no key or no address, InfrastructureError for a store that fails.
    """
    settings = read_settings(StageSettings)
    store = open_store(settings.objects)
    if not settings.promotion_key and not settings.promotion_keys:
        return Means(policy=settings.policy, signing_key=settings.signing_key, store=store)
    with extra("services"):
        from rl_gym.infra.signing import KeyRing, SigningKey

    return Means(
        policy=settings.policy,
        signing_key=settings.signing_key,
        store=store,
        promotion_key=SigningKey.load(settings.promotion_key) if settings.promotion_key else None,
        promotion_keys=KeyRing.load(settings.promotion_keys) or None,
    )
