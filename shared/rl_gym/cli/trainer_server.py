"""The trainer service as verbs ask it: its address, and the key by which they sign who calls."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rl_gym.wire.clients.trainer import TrainerClient

__all__ = ["URL", "Server", "server_of", "trainer"]

URL = "RL_GYM_TRAINER_URL"
"""The environment variable with the address."""

KEY = "RL_GYM_SIGNING_KEY"
"""The environment variable with the file of the private key: an argument would stand in the list of processes."""

_HERE = "http://127.0.0.1:8083"

Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help=f"The trainer (default: {URL}, else {_HERE}); {KEY} names the private key that signs for it who calls.",
    ),
]


def server_of(given: str | None) -> str:
    """The address that is meant."""
    return given or os.environ.get(URL) or _HERE


def trainer(address: str) -> TrainerClient:
    """A client of the trainer at an address; UsageError where that is none, or where there is no such key."""
    from rl_gym.infra.extras import extra

    with extra("services"):
        from stamina.instrumentation import set_on_retry_hooks

        from rl_gym.infra.principals import SCOPES, Issuer
        from rl_gym.infra.signing import SigningKey
        from rl_gym.wire.clients.trainer import TrainerClient
    set_on_retry_hooks([])
    key = os.environ.get(KEY, "")
    caller = Issuer(SigningKey.load(key), "rl-gym", "trainer", SCOPES["trainer"]) if key else None
    return TrainerClient(address, caller=caller)
