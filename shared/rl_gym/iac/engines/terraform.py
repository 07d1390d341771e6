"""The engine `terraform`: what `terraform validate` and `terraform plan` say, for those who want the last word.

It needs the user's own program and a filesystem mirror with the AWS provider, takes seconds, and never decides a
reward. Nothing is created and nothing is fetched: keys are dummies, the provider's endpoint is a closed port of the
loopback, and a plan runs in a network namespace of its own, or not at all. Only a few providers that do nothing at plan
time are taken from the mirror.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from rl_gym.hcl import HclError, Module, ast, load, parse
from rl_gym.hcl.limits import FILES
from rl_gym.hcl.overrides import is_override
from rl_gym.iac.engines.bounded_process import OutputTooLongError, ProcessLateError, run
from rl_gym.iac.engines.module_folder import ModuleFolder, module_folder
from rl_gym.iac.engines.report import EngineFinding, EngineReport, UnansweredError
from rl_gym.iac.engines.terraform_refusals import refusals
from rl_gym.infra.errors import one_line
from rl_gym.infra.settings import load_settings
from rl_gym.infra.text_files import split_lines

__all__ = ["TerraformEngine", "make"]

SECONDS = 120.0
"""The most for one module: a mirror that no one has read since the machine started takes a while by itself."""

_SHORT_SECONDS = 10.0
"""The most for what should answer at once: the program's version, a namespace to run it in."""

_HASHICORP = "registry.terraform.io/hashicorp"
_PROVIDERS = ("aws", "random", "null", "tls", "time")
_FILES = (".tf", ".tf.json", ".tfvars", ".tfvars.json")
_PROBE = {"main.tf": 'resource "aws_ebs_volume" "probe" {\n  availability_zone = "us-east-1a"\n  size = 1\n}\n'}

_NOWHERE = "127.0.0.1:9"
_ENVIRONMENT = {
    "PATH": os.defpath,
    "TF_CLI_CONFIG_FILE": os.devnull,
    "TF_IN_AUTOMATION": "1",
    "CHECKPOINT_DISABLE": "1",
    "AWS_ENDPOINT_URL": f"http://{_NOWHERE}",
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}

_OVERRIDE = "_override.tf"
"""Terraform reads files of this ending after all others, in the order of their names."""
_ALIAS = re.compile(r"[\w-]+")
"""What may be an alias, and is written in quotes as it is."""
_BACKEND = """\
terraform {{
  backend "local" {{
    path = "{state}"
  }}
  required_providers {{
    aws = {{ source = "hashicorp/aws" }}
  }}
}}
"""
_PROVIDER = """\
provider "aws" {{{alias}
  profile                     = null
  access_key                  = null
  secret_key                  = null
  token                       = null
  max_retries                 = 1
  allowed_account_ids         = null
  forbidden_account_ids       = null
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
}}
"""
_MOST_NOTES = 5
"""The most places that a report's detail names."""
_MOST_MESSAGE = 1_000
"""Characters that are kept of what Terraform says in one place."""
_CONTEXT = re.compile(r'(resource|data) "([^"]+)" "([^"]+)"')


def make() -> TerraformEngine:
    settings = load_settings()
    return TerraformEngine(settings.terraform, settings.plugin_mirror, seconds=settings.engine_seconds or SECONDS)


@dataclass(frozen=True, slots=True)
class _Packages:
    """The program, and the packages of the mirror that are used, by their paths below the mirror."""

    program: str
    version: str
    providers: Mapping[str, Path]


class TerraformEngine:
    """`program` judges by the providers of `mirror`, a folder `HOST/NAMESPACE/TYPE/...`, in at most `seconds`."""

    name = "terraform"

    def __init__(self, program: str = "terraform", mirror: Path | None = None, *, seconds: float = SECONDS) -> None:
        self._program, self._mirror, self._seconds = program, mirror, seconds

    def scan(self, files: Mapping[str, str], variables: Mapping[str, Any] | None = None) -> EngineReport:
        """Every diagnostic as a finding, `rule` being its summary; a warning's reason says that it is one."""
        version = ""
        try:
            packages = self._packages
            version = packages.version
            with module_folder({name: text for name, text in files.items() if name.endswith(_FILES)}) as folder:
                session = _Session(packages, folder, time.monotonic() + self._seconds)
                session.judge({path: files[name] for path, name in folder.given.items()}, variables or {})
        except UnansweredError as reason:
            return EngineReport(self.name, reason.status, version, str(reason))
        except ProcessLateError:
            return EngineReport(self.name, "timed_out", version, f"terraform took more than {self._seconds:g} s")
        except (OSError, ValueError, OutputTooLongError) as error:
            return EngineReport(self.name, "failed", version, f"terraform: {error}")
        return EngineReport(
            self.name, "answered", version, "; ".join(session.notes[:_MOST_NOTES]), list(session.findings)
        )

    def health(self) -> EngineReport:
        """Whether it answers about one small module."""
        report = self.scan(_PROBE)
        return EngineReport(self.name, report.status, report.version, report.detail)

    def close(self) -> None:
        """Nothing of it outlives a scan."""

    @cached_property
    def _packages(self) -> _Packages:
        program = shutil.which(self._program)
        if program is None:
            raise UnansweredError("missing", f"there is no program {self._program!r}: RL_GYM_TERRAFORM names it")
        providers = _packages_in(self._mirror) if self._mirror else {}
        aws = [path for path in providers if path.startswith(f"{_HASHICORP}/aws/")]
        if not aws:
            where = f"{self._mirror} holds no AWS provider" if self._mirror else "no provider mirror is named"
            what = "RL_GYM_PLUGIN_MIRROR names a folder that `terraform providers mirror` made"
            raise UnansweredError("missing", f"{where}: {what}")
        program = str(Path(program).absolute())
        return _Packages(program, f"{_version(program)} with aws {_newest(aws)}", providers)


def _version(program: str) -> str:
    """What the program says that it is. Raises UnansweredError for one that is no Terraform."""
    _, output = _alone([program, "version", "-json"])
    try:
        return str(json.loads(output)["terraform_version"])
    except (ValueError, LookupError, TypeError):
        raise UnansweredError("failed", f"{program} is no Terraform: `version -json` tells no version") from None


def _alone(command: Sequence[str]) -> tuple[int, bytes]:
    """A short program that needs no files: its exit status and what it printed. Raises UnansweredError, OSError."""
    try:
        return run(command, folder=Path(os.sep), environment=_ENVIRONMENT, ends=time.monotonic() + _SHORT_SECONDS)
    except ProcessLateError:
        raise UnansweredError("timed_out", f"`{' '.join(command)}` took more than {_SHORT_SECONDS:g} s") from None


def _packages_in(mirror: Path) -> dict[str, Path]:
    """Packed providers lie as `TYPE/*.zip`, unpacked ones as `TYPE/VERSION/PLATFORM/`."""
    folders = [mirror.absolute() / _HASHICORP / kind for kind in _PROVIDERS]
    found = [path for folder in folders for pattern in ("*.zip", "*/*_*") for path in folder.glob(pattern)]
    return {path.relative_to(mirror.absolute()).as_posix(): path for path in found}


def _newest(paths: Sequence[str]) -> str:
    numbers = [number for path in paths for number in re.findall(r"[/_](\d+\.\d+\.\d+)[/_]", path)]
    return max(numbers, key=lambda number: [int(part) for part in number.split(".")], default="of unknown version")


@cache
def _without_network() -> tuple[str, ...]:
    """What runs a program in a network namespace without interfaces; nothing where this machine has no such thing."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    command = (unshare, "--map-root-user", "--net")
    status, _ = _alone([*command, "true"])
    return command if status == 0 else ()


class _Session:
    """Terraform on one module, until `ends` of the monotonic clock. `findings` are in its order, each once."""

    def __init__(self, packages: _Packages, folder: ModuleFolder, ends: float) -> None:
        self._packages, self._folder, self._ends = packages, folder, ends
        self._directory = "."
        self._environment = {
            **_ENVIRONMENT,
            "HOME": str(folder.beside),
            "TMPDIR": str(folder.beside),
            "TF_DATA_DIR": str(folder.beside / "data"),
        }
        self.findings: dict[EngineFinding, None] = {}
        self.notes: list[str] = []

    def judge(self, texts: Mapping[str, str], variables: Mapping[str, Any]) -> None:
        module = _read(texts)
        if module is None:
            # Terraform reads it too, and evaluates nothing yet: it says what is wrong with the syntax.
            if self._initialises("-backend=false", "-get=false"):
                raise UnansweredError("failed", "terraform is not run on what the built-in engine cannot read")
            return
        self._directory = module.directory
        self._write_override(module)
        given = self._folder.beside / "variables.tfvars.json"
        given.write_text(json.dumps(dict(variables)))
        if not self._initialises() or not self._succeeds("validate"):
            return
        if _without_network():
            self._succeeds("plan", "-input=false", "-refresh=false", "-lock=false", f"-var-file={given}")
        else:
            self.notes.append("it was not planned: this machine has no network namespaces")

    def _initialises(self, *options: str) -> bool:
        """Whether it finds its providers; an error without a place in a file is that of no file."""
        done, said = self._ask("init", "-input=false", f"-plugin-dir={self._plugins()}", *options)
        placed = [diagnostic for diagnostic in said if "range" in diagnostic]
        if not done and not any(map(_is_error, placed)):
            raise UnansweredError("failed", f"terraform init: {_message(next(filter(_is_error, said), said[0]))}")
        self._take_down(placed)
        return done

    def _succeeds(self, verb: str, *options: str) -> bool:
        done, said = self._ask(verb, *options)
        self._take_down(said)
        return done

    def _plugins(self) -> Path:
        plugins = self._folder.beside / "plugins"
        for path, package in self._packages.providers.items():
            (plugins / path).parent.mkdir(parents=True, exist_ok=True)
            (plugins / path).symlink_to(package)
        return plugins

    def _write_override(self, module: Module) -> None:
        """Take the state from nowhere and the keys from nobody, by a file that is read after all of the module's."""
        text = _BACKEND.format(state=self._folder.beside / "state") + _PROVIDER.format(alias="")
        text += "".join(_PROVIDER.format(alias=f'\n  alias = "{alias}"') for alias in _aliases(module))
        folder = self._folder.path / self._directory
        last = max((path.name for path in folder.iterdir() if is_override(path.name)), default="")
        (folder / (last + _OVERRIDE)).write_text(text, encoding="utf-8")

    def _ask(self, verb: str, *options: str) -> tuple[bool, list[dict[str, Any]]]:
        """Whether a verb succeeds, and its diagnostics."""
        status, output = run(
            [*_without_network(), self._packages.program, verb, "-json", "-no-color", *options],
            folder=self._folder.path / self._directory,
            environment=self._environment,
            ends=self._ends,
        )
        text = output.decode(errors="replace")
        said = list(_diagnostics(text))
        if status and not said:
            raise UnansweredError("failed", f"terraform {verb} ended with status {status}: {_line(text[-500:])}")
        return status == 0, said

    def _take_down(self, said: Sequence[Mapping[str, Any]]) -> None:
        for diagnostic in said:
            place = diagnostic.get("range") or {}
            filename = self._folder.name(os.path.join(self._directory, place["filename"])) if place else ""
            line = place["start"]["line"] if place else 1
            message = _message(diagnostic)
            if _NOWHERE in message:
                self.notes.append(f"{filename}:{line}: a plan needs the cloud here")
                continue
            warning = "" if _is_error(diagnostic) else "warning: "
            summary = _line(diagnostic["summary"])
            self.findings[EngineFinding(summary, _address(diagnostic), filename, line, warning + message)] = None


def _read(texts: Mapping[str, str]) -> Module | None:
    """The root module, if it may be planned; None where it cannot be read."""
    try:
        files = [parse(text, path, FILES) for path, text in texts.items()]
        module = load(texts, FILES)
    except HclError:
        return None
    reasons = [reason for file in files for reason in refusals(file)]
    if reasons:
        raise UnansweredError("failed", f"terraform is not run on this: {'; '.join(reasons[:_MOST_NOTES])}")
    return module


def _aliases(module: Module) -> list[str]:
    """Those of the configurations of the provider for AWS; of one that is no name Terraform says so."""
    attributes = [block.body.attributes for block in module.declared.providers if block.labels[0] == "aws"]
    written = [one["alias"].expression for one in attributes if "alias" in one]
    return [str(one.value) for one in written if isinstance(one, ast.Literal) and _ALIAS.fullmatch(str(one.value))]


def _diagnostics(output: str) -> Iterator[dict[str, Any]]:
    """From one JSON document, as `validate` prints, or from one a line."""
    try:
        yield from json.loads(output).get("diagnostics", [])
        return
    except ValueError:
        pass
    for line in split_lines(output):
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict) and "diagnostic" in message:
            yield message["diagnostic"]


def _address(diagnostic: Mapping[str, Any]) -> str:
    told: str = diagnostic.get("address", "")
    context = _CONTEXT.match((diagnostic.get("snippet") or {}).get("context") or "")
    if told or context is None:
        return told
    mode, kind, name = context.groups()
    return f"data.{kind}.{name}" if mode == "data" else f"{kind}.{name}"


def _is_error(diagnostic: Mapping[str, Any]) -> bool:
    return bool(diagnostic["severity"] == "error")


def _message(diagnostic: Mapping[str, Any]) -> str:
    return _line(diagnostic.get("detail") or diagnostic["summary"])


def _line(text: str) -> str:
    return one_line(text, _MOST_MESSAGE)
