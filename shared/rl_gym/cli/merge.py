"""`rl-gym merge`: a model from a base and a LoRA adapter over it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["command"]


def command(
    adapter: Annotated[Path, typer.Argument(metavar="ADAPTER", help="A folder with adapter_config.json.")],
    base: Annotated[
        str, typer.Option("--base", metavar="SOURCE", help="The model that it is over, named as in rl-gym weights.")
    ],
    output: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder of the model; new, or empty.")],
) -> None:
    """Write an adapter into the weights of its base, in float32, with the tokenizer; print the model's digest.

    An adapter over another base is refused: by digest where it tells one, else by name, and by its shapes.
    """
    from rl_gym.infra.errors import UsageError
    from rl_gym.infra.extras import extra
    from rl_gym.infra.settings import load_settings
    from rl_gym.serving.adapter_bases import check_base
    from rl_gym.serving.weights import model_name, named_weights, parse_source

    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output} is there already, and not empty: name another folder")
    found = named_weights(base, load_settings())
    known = model_name(base) if parse_source(base).kind in ("packaged", "hub") else ""
    check_base(adapter, found.digest, base, known)
    with extra("train"):
        from rl_gym.training.saving import merge

    digest = merge(found.folder, adapter, output)
    print(f"{output}@sha256:{digest}")
