"""`rl-gym weights`: fetch a model, check it, and say where it lies and which it is."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="A name, a folder, gguf:FILE, hub:ORG/NAME, s3://BUCKET/PREFIX."),
    ],
) -> None:
    """Fetch models into the object store and onto this machine, so that no run waits for them.

    Prints SOURCE@sha256:DIGEST, which means this very model from now on, and the folder that it lies in.
    """
    from rl_gym.infra.settings import load_settings
    from rl_gym.serving.weights import named_weights

    settings = load_settings()
    for source in sources:
        found = named_weights(source, settings)
        print(found.origin, found.folder)
