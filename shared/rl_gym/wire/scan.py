"""Scanning: a module's files in, findings out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator

import rl_gym
from rl_gym.iac.defaults import DEFAULT_RULESET
from rl_gym.wire.finding import Finding, Verdict
from rl_gym.wire.message import Digest, Line, Message, Name, Reply, ResourceType, unique

if TYPE_CHECKING:
    from rl_gym.iac import engines, report

__all__ = [
    "EngineReport",
    "Problem",
    "SarifLog",
    "ScanEngineName",
    "ScanError",
    "ScanRequest",
    "ScanResponse",
]

ScanEngineName = Literal["builtin", "checkov", "opa", "terraform"]

MAX_FILES = 1_000
MAX_FILE_CHARACTERS = 1 << 20
MAX_SCAN_CHARACTERS = 8 << 20


def _relative(path: str) -> str:
    if path.startswith("/") or "\\" in path or not path.isprintable() or {"", ".", ".."} & set(path.split("/")):
        raise ValueError("a plain path below one folder is needed")
    return path


FilePath = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(_relative)]
FileText = Annotated[str, StringConstraints(max_length=MAX_FILE_CHARACTERS)]


class ScanRequest(Message):
    """Files by path below the top of a repository, or of a part of it. Every root module among them is judged."""

    files: Annotated[dict[FilePath, FileText], Field(min_length=1, max_length=MAX_FILES)]
    ruleset: Name = DEFAULT_RULESET
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


class _Placed(Reply):
    """Something that is said of a place in the files."""

    message: Line
    filename: str = Field(max_length=1_000)
    line: int = Field(ge=1)
    column: int = Field(ge=1)


class ScanError(_Placed):
    """Why the files cannot be read as a Terraform module, and where."""

    @classmethod
    def of(cls, error: report.ScanError) -> ScanError:
        return cls(**_place(error))


class Problem(_Placed):
    """What Terraform would refuse in files that can be read, and where."""

    kind: Literal["schema", "duplicate", "reference", "module"]
    address: str = Field(default="", max_length=1_000)
    hint: str = Field(default="", max_length=200, description="The nearest right name, where there is one")

    @classmethod
    def of(cls, problem: report.Problem) -> Problem:
        return cls(**_place(problem), kind=problem.kind, address=problem.address[:1_000], hint=problem.hint[:200])


def _place(where: report.ScanError | report.Problem) -> dict[str, Any]:
    """Message and place; what a hostile text made too long for a message is cut."""
    return {
        "message": where.message[:2_000],
        "filename": where.filename[:1_000],
        "line": max(1, where.line),
        "column": max(1, where.column),
    }


class EngineReport(Reply):
    """What one engine had to say. An engine that did not answer says why, and its findings are not known to be none."""

    engine: ScanEngineName
    version: str = Field(max_length=64)
    status: Literal["answered", "missing", "failed", "timed_out"]
    detail: Line = ""
    findings: list[Finding] = Field(default_factory=list)

    @classmethod
    def of(cls, said: engines.EngineReport) -> EngineReport:
        """What another engine said; what it failed is a finding here."""
        findings = [
            Finding(
                rule=found.rule[:200],
                address=found.address[:1_000],
                verdict="fail",
                severity=found.severity or None,
                filename=found.filename[:1_000],
                line=max(1, found.line),
                reason=found.reason[:2_000],
            )
            for found in said.findings
        ]
        return cls(
            engine=cast(ScanEngineName, said.engine),
            version=said.version[:64],
            status=said.status,
            detail=said.detail[:2_000],
            findings=findings,
        )


class ScanResponse(Reply):
    """The built-in engine's judgement, and the report of every engine that was asked."""

    valid: bool = Field(description="Whether the files can be read and evaluated")
    modules: list[str] = Field(default_factory=list, description="Folders of the root modules that were judged")
    errors: list[ScanError] = Field(default_factory=list, description="Why they cannot be, where they cannot")
    problems: list[Problem] = Field(
        default_factory=list,
        description="What Terraform would refuse all the same, `module` unless the files of it lie elsewhere",
    )
    ruleset: Name
    digest: Digest = Field(description="Of the ruleset")
    verdicts: dict[str, Verdict] = Field(description="By rule, over all its resources")
    gates: dict[str, bool] = Field(description="Each holds where it holds for every root module")
    pass_rate: float | None = Field(ge=0, le=1, description="Rules that pass / rules that apply; null where none does")
    security: float | None = Field(ge=0, le=1, description="Severity-weighted share of answers that pass")
    engines: list[EngineReport]

    @classmethod
    def of(cls, found: report.ScanReport, modules: Sequence[str] = ()) -> ScanResponse:
        builtin = EngineReport(
            engine="builtin",
            version=rl_gym.__version__,
            status="answered",
            findings=[Finding.of(one) for one in found.findings],
        )
        applies = any(verdict in ("pass", "fail", "unknown") for verdict in found.verdicts.values())
        return cls(
            valid=found.valid,
            modules=list(modules),
            errors=[ScanError.of(error) for error in found.errors],
            problems=[Problem.of(problem) for problem in (*found.problems, *found.unread)],
            ruleset=found.ruleset.name,
            digest=found.ruleset.digest,
            verdicts=found.verdicts,
            gates=dict(found.gates),
            pass_rate=found.pass_rate if applies else None,
            security=found.security,
            engines=[builtin, *(EngineReport.of(said) for said in found.engines)],
        )


class SarifLog(Reply):
    """A SARIF 2.1.0 log, for whoever asks for `sarif`: what is in a run is said by its own standard."""

    version: Literal["2.1.0"]
    runs: list[dict[str, JsonValue]]
