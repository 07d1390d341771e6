"""Which files of this deployment's machines a caller may name: none but those below the folders of a setting.

A run's files are read by a worker with the rights of the service, and what is in them is told by its artifacts and
errors. Who is served without a proof of who it is sits at this very machine, and has its files anyway.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rl_gym.infra.errors import ForbiddenError
from rl_gym.serving.weights import parse_source
from rl_gym.training.config import Config
from rl_gym.training.traffic import IN_STORE
from services.trainer.settings import TrainerSettings

__all__ = ["require_allowed_files"]

_FOLDERS = ("data", "mined")
"""The options of environment `iac` that are folders."""


def require_allowed_files(config: Config, settings: TrainerSettings) -> None:
    """Raise ForbiddenError for a configuration that names a file or folder outside of those that may be named.

    It is the same whether there is such a file.
    """
    roots = [Path(root).expanduser().resolve() for root in settings.files.split(os.pathsep) if root]
    for key, name in _named(config):
        path = Path(name).expanduser().resolve()
        if not any(path.is_relative_to(root) for root in roots):
            below = f"below {settings.files}" if roots else "none"
            raise ForbiddenError(
                f"{key}: of the trainer's own files {below} may be named: allow more by {settings.variable('files')}"
            )


def _named(config: Config) -> Iterator[tuple[str, str]]:
    """Every path that a configuration names, with its key."""
    for key, model in (("model.base", config.model.base), ("model.root", config.model.root)):
        source = parse_source(model) if model is not None else None
        if source is not None and source.kind in ("folder", "gguf"):
            yield key, source.place
    traffic = config.flywheel.traffic
    if traffic is not None and not traffic.startswith(IN_STORE):
        yield "flywheel.traffic", traffic
    if config.grpo.difficulty_map is not None:
        yield "grpo.difficulty_map", config.grpo.difficulty_map
    for folder in config.mine.folders:
        yield "mine.folders", folder
    for name, value in config.environment.options.items():
        # Of another environment nobody knows which options are paths.
        if name in _FOLDERS or os.sep in value or value.startswith((".", "~")):
            yield f"environment.options.{name}", value
