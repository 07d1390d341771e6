"""`rl-gym keys`: make the keys that services sign and check with, and principals for calling one by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rl_gym.infra.errors import UsageError
from rl_gym.infra.extras import extra

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Make signing keys, and principals for a call.")


@app.command()
def new(path: Annotated[Path, typer.Argument(help="file to write the private key to; never overwritten")]) -> int:
    """Make an Ed25519 key: the private half goes to a file that only its owner reads, the public half is printed."""
    with extra("services"):
        from rl_gym.infra.signing import SigningKey

    key = SigningKey.generate()
    key.write(path)
    print(key.public)
    return 0


@app.command()
def public(key: Annotated[str, typer.Argument(help="file of the private key")]) -> int:
    """Print the public half of a key, as RL_GYM_PRINCIPAL_KEYS and RL_GYM_BUNDLE_KEYS take it."""
    with extra("services"):
        from rl_gym.infra.signing import SigningKey

    print(SigningKey.load(key).public)
    return 0


@app.command()
def token(
    key: Annotated[str, typer.Option("--key", help="file of the private key")],
    audience: Annotated[str, typer.Option("--for", help="the service that is called")] = "verifier",
    subject: Annotated[str, typer.Option("--as", help="who calls")] = "operator",
    scope: Annotated[list[str] | None, typer.Option("--scope", help="what it may; once for each")] = None,
    seconds: Annotated[int, typer.Option("--seconds", help="how long it lives", min=1, max=300)] = 60,
) -> int:
    """Print a principal: curl -H "Authorization: Bearer $(rl-gym keys token --key KEY --scope score)"."""
    with extra("services"):
        from rl_gym.infra.principals import SCOPES, Issuer
        from rl_gym.infra.signing import SigningKey

    for name in scope or ():
        if name not in SCOPES.get(audience, (name,)):
            raise UsageError(f"{audience} knows no scope {name!r}: choose among {', '.join(SCOPES[audience])}")
    print(Issuer(SigningKey.load(key), subject, audience, tuple(scope or ()), seconds).token())
    return 0
