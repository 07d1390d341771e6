"""Optional dependencies: one clear line where an extra is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rl_gym.infra.errors import UsageError

__all__ = ["extra"]


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Around imports that the extra `name` brings: a package that is absent becomes a UsageError that says so."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(f"this needs the package {error.name}: pip install 'rl-gym[{name}]'") from error
