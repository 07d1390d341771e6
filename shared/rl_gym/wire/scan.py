"""Scanning: a module's files in, findings out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator

from rl_gym.wire.finding import Finding, Verdict
from rl_gym.wire.message import Digest, Line, Message, Name, Reply, ResourceType, unique

__all__ = ["EngineReport", "ScanEngineName", "ScanProblem", "ScanRequest", "ScanResponse"]

ScanEngineName = Literal["builtin", "checkov", "opa", "terraform"]

MAX_FILES = 1_000
MAX_FILE_CHARACTERS = 1 << 20
MAX_SCAN_CHARACTERS = 8 << 20


def _relative(path: str) -> str:
    if path.startswith("/") or "\\" in path or not path.isprintable() or {"", ".", ".."} & set(path.split("/")):
        raise ValueError("a plain path below the module's folder is needed")
    return path


FilePath = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(_relative)]
FileText = Annotated[str, StringConstraints(max_length=MAX_FILE_CHARACTERS)]


class ScanRequest(Message):
    """The files of one module and its child modules, by path below its folder."""

    files: Annotated[dict[FilePath, FileText], Field(min_length=1, max_length=MAX_FILES)]
    ruleset: Name = "base"
    engines: Annotated[list[ScanEngineName], AfterValidator(unique)] = Field(default=["builtin"], min_length=1)
    format: Literal["json", "sarif"] = Field(default="json", description="`json` is a ScanResponse")
    required: list[ResourceType] = Field(default_factory=list, max_length=64, description="Types that must be built")
    variables: dict[str, JsonValue] = Field(default_factory=dict, max_length=1_000, description="As given by -var")

    @model_validator(mode="after")
    def _bounded(self) -> ScanRequest:
        size = sum(map(len, self.files.values()))
        if size > MAX_SCAN_CHARACTERS:
            raise ValueError(f"{size} characters in all files; at most {MAX_SCAN_CHARACTERS} are allowed")
        return self


class ScanProblem(Reply):
    """A place where the files are not a Terraform module."""

    message: Line
    filename: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)


class EngineReport(Reply):
    """What one engine had to say. An engine that did not answer says why, and its findings are not known to be none."""

    engine: ScanEngineName
    version: str = Field(max_length=64)
    status: Literal["answered", "missing", "failed", "timed_out"]
    detail: Line = ""
    findings: list[Finding] = Field(default_factory=list)


class ScanResponse(Reply):
    """The built-in engine's judgement, and the report of every engine that was asked."""

    valid: bool = Field(description="Whether the files can be read and evaluated")
    errors: list[ScanProblem] = Field(default_factory=list)
    ruleset: Name
    digest: Digest = Field(description="Of the ruleset")
    verdicts: dict[str, Verdict] = Field(description="By rule, over all its resources")
    gates: dict[str, bool]
    pass_rate: float | None = Field(ge=0, le=1, description="Rules that pass / rules that apply; null where none does")
    security: float | None = Field(ge=0, le=1, description="Severity-weighted share of answers that pass")
    engines: list[EngineReport]
