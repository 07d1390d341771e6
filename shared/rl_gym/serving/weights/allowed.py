"""Which sources may be used, how large a model may be, and whether the hub may be asked at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from rl_gym.infra.errors import ForbiddenError, UsageError
from rl_gym.infra.settings import ALLOWED_WEIGHTS, Settings
from rl_gym.serving.weights.sources import Kind, Source

__all__ = ["Terms"]

_KINDS = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Terms:
    """An entry of `allowed` is a kind, or the beginning of an address: `hub:ORG`, `s3://BUCKET/PREFIX`, `folder:/data`.

    With a `closed` boundary the hub is not asked, unless it is one of one's own.
    """

    allowed: tuple[str, ...] = ALLOWED_WEIGHTS
    most_bytes: int = 64 << 30
    closed: bool = False

    def __post_init__(self) -> None:
        for entry in self.allowed:
            if entry not in _KINDS and not entry.startswith(("hub:", "s3://", "gguf:/", "folder:/")):
                raise UsageError(
                    f"RL_GYM_WEIGHTS: {entry[:80]!r} is neither a kind ({', '.join(_KINDS)}) "
                    "nor begins as hub:ORG, s3://BUCKET, gguf:/FOLDER or folder:/FOLDER do"
                )

    @classmethod
    def of(cls, settings: Settings) -> Terms:
        return cls(settings.weights, settings.weights_bytes, settings.boundary == "closed")

    def check(self, source: Source) -> None:
        """Raises ForbiddenError, which says how to allow it."""
        if not any(_covers(entry, source) for entry in self.allowed):
            entry = source.address if source.kind in ("hub", "s3") else source.kind
            raise ForbiddenError(f"{source} is not among the weights that may be used: add {entry} to RL_GYM_WEIGHTS")


def _covers(entry: str, source: Source) -> bool:
    return entry == source.kind or f"{source.address}/".startswith(f"{entry.rstrip('/')}/")
