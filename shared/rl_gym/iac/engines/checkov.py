"""The engine `checkov`: Checkov's own checks for AWS, by warm worker processes in an environment of their own.

Checkov pins an old boto3, so it never shares ours; `make checkov` makes `.venv-checkov`. Suppression comments hide
nothing from it here. Its verdicts are those of its command line, many times faster.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rl_gym.iac.engines.module_folder import ModuleFolder, module_folder
from rl_gym.iac.engines.report import EngineFinding, EngineReport
from rl_gym.iac.engines.worker_pool import Limits, WorkerDiedError, WorkerLateError, WorkerPool, WorkerUnableError
from rl_gym.infra.settings import load_settings

__all__ = ["CheckovEngine", "find_python", "make"]

SECONDS = 30.0
"""The most for one module, once a worker is warm."""

_WORKER = Path(__file__).with_name("checkov_worker.py")
_PYTHON = Path(".venv-checkov", "bin", "python")
_CHECKOUT = Path(__file__).resolve().parents[4]
_WHAT_TO_DO = "`make checkov` makes its environment; RL_GYM_CHECKOV_PYTHON names the Python of another"
_PROBE = {"main.tf": 'resource "aws_ebs_volume" "probe" {}\n'}

_ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "HOME": os.devnull,
    "LOG_LEVEL": "CRITICAL",
    "CHECKOV_PARALLELIZATION_TYPE": "none",
    "CKV_SKIP_PACKAGE_UPDATE_CHECK": "true",
    "AWS_EC2_METADATA_DISABLED": "true",
    # A closed port, for whatever would call home.
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}
"""All that a worker sees of the environment: no credentials, and no variables of Terraform."""


def make() -> CheckovEngine:
    settings = load_settings()
    seconds = settings.engine_seconds or SECONDS
    return CheckovEngine(settings.checkov_python, workers=settings.checkov_workers, seconds=seconds)


def find_python(named: Path | None = None) -> Path | None:
    """The Python of Checkov's environment: the named one, else that of the checkout or of the working directory."""
    places = [named] if named else [_CHECKOUT / _PYTHON, Path.cwd() / _PYTHON]
    return next((place.absolute() for place in places if os.access(place, os.X_OK) and place.is_file()), None)


class CheckovEngine:
    """Checkov, warm: `workers` processes at most, `seconds` for one module."""

    name = "checkov"

    def __init__(
        self, python: Path | None = None, *, workers: int = 2, seconds: float = SECONDS, limits: Limits | None = None
    ) -> None:
        self._named, self._seconds = python, seconds
        self._workers, self._limits = workers, limits
        self._pool: WorkerPool | None = None
        self._starting = threading.Lock()

    def scan(self, files: Mapping[str, str], variables: Mapping[str, Any] | None = None) -> EngineReport:
        """Judge the files of a module. Checkov reads `.tf` and `.tfvars`; of a file that it cannot read it says so."""
        pool = self._started()
        if pool is None:
            where = f"{self._named} is no program" if self._named else f"there is no {_PYTHON.parts[0]}"
            return EngineReport(self.name, "missing", detail=f"{where}: {_WHAT_TO_DO}")
        try:
            with module_folder(files) as folder:
                answer, greeting = pool.ask(self._job(folder, variables), self._seconds)
                return self._report(answer, greeting, folder)
        except WorkerUnableError as error:
            return EngineReport(self.name, "missing", detail=f"checkov does not start: {error}: {_WHAT_TO_DO}")
        except WorkerLateError as error:
            return EngineReport(self.name, "timed_out", detail=f"checkov: {error}")
        except WorkerDiedError as error:
            return EngineReport(self.name, "failed", detail=f"checkov, twice: {error}")
        except (OSError, ValueError) as error:
            return EngineReport(self.name, "failed", detail=f"checkov: the files cannot be laid out: {error}")

    def health(self) -> EngineReport:
        """Whether it answers: it judges one small module, and starts a worker for that if none is warm."""
        report = self.scan(_PROBE)
        return EngineReport(self.name, report.status, report.version, report.detail)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()

    def _started(self) -> WorkerPool | None:
        # Two threads that ask first would each make a pool, and one of them would be closed by nobody.
        with self._starting:
            python = find_python(self._named)
            if self._pool is None and python is not None:
                command = [str(python), "-I", "-W", "ignore", str(_WORKER)]
                self._pool = WorkerPool(command, _ENVIRONMENT, self._workers, self._limits)
            return self._pool

    def _job(self, folder: ModuleFolder, variables: Mapping[str, Any] | None) -> dict[str, Any]:
        given = None
        if variables:
            given = folder.beside / "variables.json"
            given.write_text(json.dumps(dict(variables)))
        return {
            "folder": str(folder.path),
            "variables": str(given) if given else None,
            "cpu_seconds": int(self._seconds) + 1,
        }

    def _report(self, answer: Mapping[str, Any], greeting: Mapping[str, Any], folder: ModuleFolder) -> EngineReport:
        version = greeting["version"]
        if "error" in answer:
            return EngineReport(self.name, "failed", version, f"checkov: {answer['error']}")
        findings = [
            EngineFinding(check, address, folder.name(path), line, message)
            for check, address, path, line, message in answer["failed"]
        ]
        passed = [(check, address) for check, address in answer["passed"]]
        unread = [folder.name(path) for path in answer["unread"]]
        unread += [name for name in folder.given.values() if name.endswith(".tf.json")]
        detail = f"checkov could not read {', '.join(unread)}" if unread else ""
        return EngineReport(self.name, "failed" if unread else "answered", version, detail, findings, passed)
