"""A warm Checkov: a job a line on standard input, an answer a line on standard output.

    CHECKOV-PYTHON -I checkov_worker.py PARENT-PROCESS

Checkov's Python runs it, so it imports nothing of rl_gym. The greeting is `{"version"}`; a job is `{"folder",
"variables", "cpu_seconds"}`: a module's folder, a JSON file of variables or null, and the processor time it may take.
The answer is `{"failed": [[check, address, file, line, message]], "passed": [[check, address]], "unread": [file],
"memory": bytes}`, with files below the folder, or `{"error"}`. It ends when its input or its parent does.

It reads hostile text: it has no network, no processes, no threads, writes nothing, and reads what lies in the folder or
beside it.
"""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import concurrent.futures
import ctypes
import json
import os
import re
import resource
import select
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

_MOST_MEMORY = 2 << 30
_MOST_OPEN_FILES = 256
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ADDRESS = re.compile(r"((?:module\.[^.]+\.)*)([^\[]*)(.*)", re.DOTALL)
_NEW_USER_AND_NETWORK = 0x10000000 | 0x40000000


class Guard:
    """Refuses, from when it is `active`, what reading Terraform does not need: a hook of Python's own audit events."""

    REFUSED = re.compile(
        r"(socket|subprocess|shutil)\.|urllib\.Request|ctypes\.dlopen|signal\.pthread_kill|os\.(exec|fork|posix_spawn"
        r"|spawn|system|kill|putenv|remove|rename|rmdir|mkdir|link|symlink|truncate|chmod|chown)"
    )
    LISTING = ("os.listdir", "os.scandir")

    def __init__(self) -> None:
        self.active = False
        self.folder = os.devnull
        self._libraries = tuple({str(Path(place).resolve()) + os.sep for place in (sys.prefix, sys.base_prefix)})
        sys.addaudithook(self._judge)

    def _judge(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event == "open":
            path, _, flags = arguments
            if not isinstance(path, int) and (flags & _WRITING or not self._is_readable(path)):
                raise PermissionError(f"not for a scan: {path!r}")
        elif event in self.LISTING:
            if not isinstance(arguments[0], int) and not self._is_readable(arguments[0]):
                raise PermissionError(f"not for a scan: {arguments[0]!r}")
        elif self.REFUSED.match(event):
            raise PermissionError(f"not for a scan: {event}")

    def _is_readable(self, path: Any) -> bool:
        real = os.path.realpath(os.fsdecode(path or os.curdir)) + os.sep
        return real.startswith((self.folder, *self._libraries))


class Inline(concurrent.futures.Executor):
    """A pool without threads: Checkov starts one for each check of the graph."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **named: Any) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(fn(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def main(parent: int) -> None:
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.dont_write_bytecode = True
    guard = Guard()
    try:
        version = _warm_up()
    except (ImportError, OSError) as error:
        _say(answers, {"error": f"{type(error).__name__}: {error}"})
        sys.exit(1)
    statistics = os.open("/proc/self/statm", os.O_RDONLY)
    _leave_the_network()
    _limit()
    _watch(parent, guard)
    guard.active = True
    _say(answers, {"version": version})
    for line in _lines(parent):
        job = json.loads(line)
        guard.folder = os.path.realpath(os.path.dirname(job["folder"])) + os.sep
        _allow_processor_time(job["cpu_seconds"])
        try:
            answer = _scan(job["folder"], job["variables"])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:1000]}
        _say(answers, {**answer, "memory": _memory(statistics)})


def _leave_the_network() -> None:
    """Where the kernel lets anyone, a network namespace without interfaces; elsewhere the guard stands alone."""
    ctypes.CDLL(None, use_errno=True).unshare(_NEW_USER_AND_NETWORK)


def _warm_up() -> str:
    if sys.platform != "linux":
        raise OSError(f"its worker runs on Linux, not on {sys.platform}")
    # Before Checkov's modules take their own reference to it.
    concurrent.futures.ThreadPoolExecutor = Inline  # type: ignore[assignment,misc]
    from checkov.common.checks_infra.registry import get_graph_checks_registry
    from checkov.terraform.runner import Runner
    from checkov.version import version

    registry = get_graph_checks_registry(Runner.check_type)
    registry.checks_dir = os.path.join(registry.checks_dir, "aws")
    registry.load_checks()
    return str(version)


def _limit() -> None:
    for name, value in (
        (resource.RLIMIT_AS, _MOST_MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _MOST_OPEN_FILES),
        (resource.RLIMIT_NPROC, 0),
    ):
        hard = resource.getrlimit(name)[1]
        resource.setrlimit(name, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _watch(parent: int, guard: Guard) -> None:
    """End in the middle of a job too when the parent is gone. This clock is not the one of Checkov's own alarm."""

    def check(*_: Any) -> None:
        if os.getppid() != parent:
            guard.active = False
            shutil.rmtree(guard.folder, ignore_errors=True)
            os._exit(1)

    signal.signal(signal.SIGVTALRM, check)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1.0, 1.0)


def _lines(parent: int) -> Iterator[bytes]:
    """Each line of standard input, until it ends or the parent does: a fork of the parent may hold the pipe open."""
    pending = b""
    while os.getppid() == parent:
        if not select.select([0], [], [], 1.0)[0]:
            continue
        part = os.read(0, 1 << 16)
        if not part:
            return
        *lines, pending = (pending + part).split(b"\n")
        yield from lines


def _allow_processor_time(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds + 1, hard))


def _scan(folder: str, variables: str | None) -> dict[str, Any]:
    from checkov.runner_filter import RunnerFilter
    from checkov.terraform.runner import Runner

    wanted = RunnerFilter(
        framework=["terraform"], download_external_modules=False, var_files=[variables] if variables else None
    )
    runner = Runner()
    report = runner.run(root_folder=folder, runner_filter=wanted, collect_skip_comments=False)
    data = _names(runner.definitions, "data") - _names(runner.definitions, "resource")

    def verdict(record: Any) -> list[str]:
        return [record.check_id, _address(record.resource, data)]

    return {
        "failed": [
            [*verdict(one), one.file_path.lstrip("/"), one.file_line_range[0], one.check_name]
            for one in report.failed_checks
        ],
        "passed": [verdict(one) for one in report.passed_checks],
        "unread": [os.path.relpath(path, folder) for path in report.parsing_errors],
    }


def _names(definitions: dict[Any, dict[str, list[dict[str, Any]]]], mode: str) -> set[str]:
    blocks = [block for definition in definitions.values() for block in definition.get(mode, [])]
    return {f"{kind}.{name}" for block in blocks for kind, named in block.items() for name in named}


def _address(resource: str, data: set[str]) -> str:
    """Terraform's address: Checkov leaves out the `data.` of a data source and the `module.` of a module call."""
    if "." not in resource:
        return f"module.{resource}"
    modules, name, instance = _ADDRESS.fullmatch(resource).groups()  # type: ignore[union-attr]
    return f"{modules}data.{name}{instance}" if name in data else resource


def _memory(statistics: int) -> int:
    """What this process holds now, in bytes: the second number of Linux's `statm`, in pages."""
    return int(os.pread(statistics, 128, 0).split()[1]) * resource.getpagesize()


def _say(answers: BinaryIO, message: dict[str, Any]) -> None:
    view = memoryview(json.dumps(message).encode() + b"\n")
    while view:
        view = view[answers.write(view) :]


if __name__ == "__main__":
    main(int(sys.argv[1]))
