"""Where models lie: the ones that ship with the package, by name, and folders."""

from __future__ import annotations

import difflib
from pathlib import Path

from rl_gym.infra.errors import NotFoundError

__all__ = ["PACKAGED", "find_model", "packaged_models"]

PACKAGED = Path(__file__).parent / "models"


def packaged_models() -> list[str]:
    """The names of the models that ship with the package, sorted."""
    return sorted(path.parent.name for path in PACKAGED.glob("*/config.json"))


def find_model(name: str) -> Path:
    """The folder of a packaged model, or `name` itself where it is a folder with a model in it.

    Raises NotFoundError that says which names are known, and how a missing base is made.
    """
    if name in packaged_models():
        return PACKAGED / name
    folder = Path(name).expanduser()
    if (folder / "config.json").is_file():
        return folder
    known = packaged_models()
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"packaged are: {', '.join(known) or 'none'}"
    raise NotFoundError(f"no model {name!r}: neither a packaged one nor a folder with config.json; {hint}")
