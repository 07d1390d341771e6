"""The engine `opa`: an organisation's own Rego policies over the static plan document of a module.

Policies are the `.rego` files below the folder that `RL_GYM_POLICIES` names, else below `policies` in the working
directory, in the syntax of version 0 or 1. As is the habit with plans, `deny`, `violation` and `warn` (and what begins
so: `deny_public`), in whatever package, hold what is wrong: texts, or objects with `msg` and, where they tell them,
`address` and `severity`. A rule that is true says it without words. Tests (`_test.rego`) are left out.

The module is read and judged in a process of its own, which is killed when it takes too long.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rl_gym.iac.engines.bounded_process import OutputTooLongError, ProcessLateError, run
from rl_gym.iac.engines.report import EngineFinding, EngineReport, EngineStatus, UnansweredError
from rl_gym.infra.settings import load_settings
from rl_gym.infra.text_files import UnreadableError, read_text

__all__ = ["OpaEngine", "make"]

SECONDS = 20.0
"""The most for one module."""

MOST_POLICIES = 500
MOST_BYTES = 8 << 20
"""Of all policies and the module together."""

_FOLDER = Path("policies")
_LIBRARY = Path(__file__).resolve().parents[3]
_WORKER = "rl_gym.iac.engines.opa_worker"
_WHAT_TO_DO = f"put .rego files with rules named deny, violation or warn into {_FOLDER}, or name their folder"
_PROBE = {"main.tf": 'resource "aws_ebs_volume" "probe" {}\n'}


def make() -> OpaEngine:
    settings = load_settings()
    return OpaEngine(settings.policies, seconds=settings.engine_seconds or SECONDS)


class OpaEngine:
    """Policies of a folder, by regorus."""

    name = "opa"

    def __init__(self, folder: Path | None = None, *, seconds: float = SECONDS) -> None:
        self._named, self._seconds = folder, seconds

    def scan(self, files: Mapping[str, str], variables: Mapping[str, Any] | None = None) -> EngineReport:
        """Judge the files of a module by every policy."""
        try:
            findings = self._judge({"policies": self._policies(), "files": files, "variables": variables})
        except UnansweredError as error:
            return self._report(error.status, str(error))
        return EngineReport(self.name, "answered", _version(), findings=findings)

    def health(self) -> EngineReport:
        """Whether its policies can be evaluated: they judge one small module."""
        report = self.scan(_PROBE)
        return self._report(report.status, report.detail)

    def close(self) -> None:
        """Nothing is kept between modules."""

    def _report(self, status: EngineStatus, detail: str) -> EngineReport:
        return EngineReport(self.name, status, _version(), detail)

    def _policies(self) -> dict[str, str]:
        """The policies by their paths. Raises UnansweredError where none could judge, or one cannot be read."""
        if not _version():
            raise UnansweredError("missing", "regorus is not installed: pip install 'rl-gym[opa]'")
        folder = self._named or _FOLDER
        if not folder.is_dir():
            raise UnansweredError("missing", f"there is no folder {folder}: {_WHAT_TO_DO} by RL_GYM_POLICIES")
        try:
            texts = {str(path): read_text(str(path), MOST_BYTES) for path in _rego_files(folder)}
        except (OSError, UnreadableError) as error:
            raise UnansweredError("failed", f"opa: a policy in {folder} cannot be read: {error}") from None
        if not texts:
            raise UnansweredError("missing", f"no .rego file is in {folder}: {_WHAT_TO_DO} by RL_GYM_POLICIES")
        return texts

    def _judge(self, job: Mapping[str, Any]) -> Sequence[EngineFinding]:
        """What the policies find, by a process that ends in time. Raises UnansweredError."""
        text = json.dumps(job)
        if len(text) > MOST_BYTES:
            raise UnansweredError("failed", f"opa: policies and module are larger than {MOST_BYTES >> 20} MiB together")
        with tempfile.TemporaryDirectory(prefix="rl-gym-opa-") as folder:
            path = Path(folder, "job.json")
            path.write_text(text, encoding="utf-8")
            command = [sys.executable, "-m", _WORKER, str(path)]
            environment = {"PATH": os.defpath, "PYTHONPATH": str(_LIBRARY)}
            ends = time.monotonic() + self._seconds
            try:
                status, output = run(command, folder=Path(folder), environment=environment, ends=ends)
            except ProcessLateError:
                raise UnansweredError("timed_out", f"opa: the policies take more than {self._seconds:g} s") from None
            except (OutputTooLongError, OSError) as error:
                raise UnansweredError("failed", f"opa: {error}") from None
        return _findings(status, output)


def _rego_files(folder: Path) -> Iterator[Path]:
    paths = sorted(path for path in folder.rglob("*.rego") if not path.name.endswith("_test.rego"))
    if len(paths) > MOST_POLICIES:
        raise UnansweredError("failed", f"opa: more than {MOST_POLICIES} policies are in {folder}")
    yield from paths


def _findings(status: int, output: bytes) -> Sequence[EngineFinding]:
    """What the worker printed last. Raises UnansweredError."""
    lines = output.decode(errors="replace").strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else {}
    except ValueError:
        answer = {}
    if "error" in answer:
        raise UnansweredError("missing" if answer.get("missing") else "failed", f"opa: {answer['error']}")
    if status != 0 or "findings" not in answer:
        raise UnansweredError("failed", f"opa: the evaluation ended with status {status}")
    return [EngineFinding(**row) for row in answer["findings"]]


def _version() -> str:
    """That of the package that brings regorus; empty where it is not installed."""
    try:
        return version("gordon-to-regorus")
    except PackageNotFoundError:
        return ""
