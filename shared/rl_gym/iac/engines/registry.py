"""Engines by name, each loaded when it is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

from rl_gym.iac.engines.report import EngineReport
from rl_gym.infra.errors import UsageError

__all__ = ["ENGINES", "ScanEngine", "get_engine"]

_MODULES: dict[str, str] = {"checkov": "checkov", "opa": "opa", "terraform": "terraform"}
"""The module of each engine, in this package; its `make()` gives the engine."""

ENGINES = ("builtin", *_MODULES)
"""What a scan may be asked to run. `builtin` is the rules of a ruleset."""


class ScanEngine(Protocol):
    """Something that judges the files of a module: safe to call from several threads, and never raises for a text."""

    name: str

    def scan(self, files: Mapping[str, str], variables: Mapping[str, Any] | None = None) -> EngineReport:
        """Judge files by relative path; a fault of the engine is a report whose `status` says so."""
        ...

    def health(self) -> EngineReport:
        """Whether it could answer now: a report without findings."""
        ...

    def close(self) -> None:
        """Stop what it started; it starts again when asked again."""
        ...


@cache
def get_engine(name: str) -> ScanEngine:
    """The engine of this name, one for the process.

    Raises UsageError for any other name, and for `builtin`, which is the scan itself.
    """
    if name not in _MODULES:
        raise UsageError(f"there is no scan engine {name!r}: choose among {', '.join(ENGINES)}")
    module = importlib.import_module(f"rl_gym.iac.engines.{_MODULES[name]}")
    engine: ScanEngine = module.make()
    return engine
