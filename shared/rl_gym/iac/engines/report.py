"""What an engine beside the built-in rules said of a module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rl_gym.iac.verdicts import Severity

__all__ = ["EngineFinding", "EngineReport", "EngineStatus", "UnansweredError"]

EngineStatus = Literal["answered", "missing", "failed", "timed_out"]


class UnansweredError(Exception):
    """Why an engine has no answer, within that engine: `status`, and as the message what to do."""

    def __init__(self, status: EngineStatus, message: str) -> None:
        super().__init__(message)
        self.status: EngineStatus = status


@dataclass(frozen=True, slots=True)
class EngineFinding:
    """One failed check of an engine; `rule` is the engine's own name for it.

    `severity` is empty where the engine gives none; `line` counts from 1.
    """

    rule: str
    address: str
    filename: str
    line: int
    reason: str
    severity: Severity | Literal[""] = ""

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class EngineReport:
    """The answer of one engine.

    Where `status` is not "answered", `detail` says why and what to do, and the absence of findings means nothing.
    `passed` lists (rule, address) pairs that the engine judged good, where it tells them.
    """

    engine: str
    status: EngineStatus
    version: str = ""
    detail: str = ""
    findings: Sequence[EngineFinding] = ()
    passed: Sequence[tuple[str, str]] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "version": self.version,
            "status": self.status,
            "detail": self.detail,
            "findings": [finding.to_dict() for finding in self.findings],
        }
