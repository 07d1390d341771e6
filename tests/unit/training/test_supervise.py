"""Children that train: they report, fail in one line, and do not outlive whoever started them."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from rl_gym.infra.errors import InfrastructureError, NotFoundError
from rl_gym.training.supervise import inherited, run_jobs

CHILD = """
import json, os, sys, time
from rl_gym.training import child

def run(job, channel):
    kind, rank = job.get("does", job["kind"]), int(os.environ.get("RANK", 0))
    if kind == "report":
        print("a library prints this")
        for step in range(3):
            channel.progress(job["name"], step + 1, 3)
        channel.metrics(job["name"], 3, {"loss": 0.5})
    elif kind == "crash":
        raise ValueError("what went wrong\\nand a second line")
    elif kind == "mistake":
        from rl_gym.infra.errors import NotFoundError
        raise NotFoundError("there is no ruleset 'x'")
    elif kind == "full":
        import errno
        raise OSError(errno.ENOSPC, "No space left on device")
    elif kind == "memory":
        raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")
    elif kind == "killed":
        print("the first line")
        print("the last \x1b[31mline", os.environ.get("HF_TOKEN"))
        os.kill(os.getpid(), 9)
    elif kind == "aborts":
        print("terminate called after throwing an instance of 'std::bad_alloc'")
        os.abort()
    elif kind == "limited":
        import resource
        held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + (64 << 20),) * 2)
        bytearray(1 << 30)
    elif kind == "grows":
        held = bytearray(os.urandom(1 << 20)) * job["mib"]
        time.sleep(120)
    elif kind == "holds":
        channel.progress("inode", os.fstat(job["descriptor"]).st_ino, 1)
    elif kind == "sleep":
        channel.progress("pid", os.getpid(), 1)
        time.sleep(120)
    elif kind == "one is killed" and rank == 1:
        print("of rank 1")
        os.kill(os.getpid(), 9)
    elif kind == "one is lost" and rank == 0:
        raise RuntimeError("Connection closed by peer [127.0.0.1]:2000")
    elif kind == "one fails" and rank == 1:
        raise ValueError("of rank 1")
    elif kind in ("one is killed", "one is lost", "one fails", "all sleep"):
        channel._write({"job": "pid", "done": os.getpid(), "total": 1})
        time.sleep(120)

child._run = run
raise SystemExit(child.main(sys.argv[1:]))
"""


@pytest.fixture(autouse=True)
def scripted_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real child with a job of the test's own in place of TRL."""
    script = tmp_path / "scripted_child.py"
    script.write_text(CHILD)
    monkeypatch.setattr("rl_gym.training.supervise.CHILD", (str(script),))


linux = pytest.mark.skipif(sys.platform != "linux", reason="told by /proc, and by a signal of Linux")
launches = pytest.mark.skipif(
    sys.platform != "linux" or find_spec("accelerate") is None, reason="the extra train is not installed, or no Linux"
)
TOGETHER = {"kind": "grpo", "name": "grpo", "config": {"machine": {"processes": 2}}}


def run(
    tmp_path: Path, *jobs: Mapping[str, Any], processes: int = 1, pids: list[int] | None = None
) -> list[Mapping[str, Any]]:
    """What children reported; with `pids` also where they fail, as far as they told their process."""
    heard: list[Mapping[str, Any]] = []

    def report(message: Mapping[str, Any]) -> None:
        heard.append(message)
        if pids is not None:
            pids.append(message["done"])

    (tmp_path / "grpo").mkdir(exist_ok=True)
    named = [(tmp_path / "grpo" / f"{number}.json", job) for number, job in enumerate(jobs)]
    run_jobs(named, log=tmp_path / "log.txt", threads=1, report=report, processes=processes)
    return heard


def test_a_child_holds_the_files_that_it_is_to_inherit_and_no_other(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        job = {"kind": "holds", "name": "sft", "descriptor": lock.fileno()}
        with inherited(lock.fileno()):
            [message] = run(tmp_path, job)
        assert message["done"] == os.fstat(lock.fileno()).st_ino
        with pytest.raises(InfrastructureError, match="Bad file descriptor"):
            run(tmp_path, job)


def test_reports_arrive_in_order_and_prints_go_to_the_log(tmp_path: Path) -> None:
    heard = run(tmp_path, {"kind": "report", "name": "sft"})
    assert [message.get("done") for message in heard] == [1, 2, 3, None]
    assert heard[-1] == {"job": "sft", "step": 3, "metrics": {"loss": 0.5}}
    assert (tmp_path / "log.txt").read_text() == "a library prints this\n"


def test_several_children_report_side_by_side(tmp_path: Path) -> None:
    jobs = [{"kind": "report", "name": name} for name in "abc"]
    heard = run(tmp_path, *jobs, processes=2)
    assert sorted(message["job"] for message in heard if "done" in message) == sorted("abc" * 3)


def test_a_mistake_that_a_child_tells_stays_one(tmp_path: Path) -> None:
    """Another attempt would make it again, and so is not made."""
    with pytest.raises(NotFoundError, match=r"^grpo failed: there is no ruleset 'x'; see "):
        run(tmp_path, {"kind": "mistake", "name": "grpo"})


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("crash", "failed: ValueError: what went wrong; see"),
        ("full", "no space left on the disk"),
        ("memory", "failed: out of memory: raise grpo.gradient_accumulation, or lower grpo.prompts_per_step"),
        ("killed", "its process ended with SIGKILL (if memory ran out: raise grpo.gradient_accumulation"),
        ("killed", "; its last lines: the first line | the last [31mline ***; see"),
        ("aborts", "its process ended with SIGABRT, out of memory: raise grpo.gradient_accumulation"),
        ("limited", "failed: out of memory: raise grpo.gradient_accumulation"),
    ],
)
def test_a_failure_is_one_line_that_names_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, said: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_somebody")
    with pytest.raises(InfrastructureError) as raised:
        run(tmp_path, {"kind": kind, "name": "grpo"})
    assert said in str(raised.value)
    assert str(tmp_path / "log.txt") in str(raised.value)
    assert "\n" not in str(raised.value)


@linux
def test_a_job_that_passes_its_memory_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(
        InfrastructureError, match=r"grpo: held 0\.\d+ GiB of memory where machine.memory_gib allows 0.1: "
    ):
        run(tmp_path, {"kind": "grows", "mib": 200, "config": {"machine": {"memory_gib": 0.1}}})


@launches
def test_the_memory_of_several_processes_counts_together(tmp_path: Path) -> None:
    machine = {"processes": 2, "memory_gib": 1.4}
    others = descendants(os.getpid())
    with pytest.raises(InfrastructureError, match=r"grpo: held \d\.\d+ GiB of memory where .* allows 1.4: raise"):
        run(tmp_path, {**TOGETHER, "does": "grows", "mib": 800, "config": {"machine": machine}})
    assert descendants(os.getpid()) <= others


def test_a_job_that_passes_its_time_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"took longer than the 0.5 s that machine.job_seconds allows"):
        run(tmp_path, {"kind": "sleep", "config": {"machine": {"job_seconds": 0.5}}})


def test_a_job_within_its_limits_is_left_alone(tmp_path: Path) -> None:
    limits = {"memory_gib": 100, "job_seconds": 1000}
    assert len(run(tmp_path, {"kind": "report", "name": "sft", "config": {"machine": limits}})) == 4


@launches
def test_of_several_processes_the_first_alone_reports(tmp_path: Path) -> None:
    heard = run(tmp_path, {**TOGETHER, "does": "report"})
    assert [message.get("done") for message in heard] == [1, 2, 3, None]
    assert (tmp_path / "log.txt").read_text().count("a library prints this") == 2


@launches
@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("one is killed", "grpo: rank 1 of 2: its process ended with SIGKILL (if memory ran out: raise grpo."),
        ("one is killed", "; its last lines: of rank 1; see"),
        ("one fails", "grpo failed: rank 1 of 2: ValueError: of rank 1; see"),
        ("one is lost", "grpo failed: rank 0 of 2: another process of the training is gone: RuntimeError: Connection"),
    ],
)
def test_the_end_of_one_process_is_the_end_of_all(tmp_path: Path, does: str, said: str) -> None:
    pids: list[int] = []
    with pytest.raises(InfrastructureError) as raised:
        run(tmp_path, {**TOGETHER, "does": does}, pids=pids)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert all(gone(pid) for pid in pids)


@launches
def test_a_failure_elsewhere_stops_all_of_a_launcher(tmp_path: Path) -> None:
    pids: list[int] = []

    def report(message: Mapping[str, Any]) -> None:
        pids.append(message["done"])
        if len(pids) == 2:
            raise InfrastructureError("the disk is full")

    job = {**TOGETHER, "does": "all sleep"}
    with pytest.raises(InfrastructureError, match="the disk is full"):
        run_jobs([(tmp_path / "job.json", job)], log=tmp_path / "log.txt", threads=1, report=report)
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)


def test_a_log_that_cannot_be_opened_is_one_line_and_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr("rl_gym.training.supervise.subprocess.Popen", lambda *given, **options: started.append(given))
    (tmp_path / "log.txt").mkdir()
    with pytest.raises(InfrastructureError, match=r"log\.txt: could not be written: Is a directory$"):
        run(tmp_path, {"kind": "sleep", "name": "grpo"})
    assert started == []


def test_a_process_that_cannot_be_started_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("rl_gym.training.supervise.subprocess.Popen", refused)
    with pytest.raises(InfrastructureError, match=r"^grpo: its process cannot be started: Too many open files$"):
        run(tmp_path, {"kind": "sleep", "name": "grpo"})


def test_the_log_keeps_the_traceback(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError):
        run(tmp_path, {"kind": "crash"})
    assert "Traceback" in (tmp_path / "log.txt").read_text()


def test_a_failure_stops_the_others(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(InfrastructureError):
        run(tmp_path, {"kind": "sleep"}, {"kind": "crash"}, processes=2)
    assert time.monotonic() - started < 60


def test_an_interrupt_stops_the_child(tmp_path: Path) -> None:
    pids: list[int] = []

    def report(message: Mapping[str, Any]) -> None:
        pids.append(message["done"])
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        run_jobs([(tmp_path / "job.json", {"kind": "sleep"})], log=tmp_path / "log.txt", threads=1, report=report)
    assert not alive(pids[0])


@pytest.mark.parametrize(
    ("job", "processes"),
    [
        pytest.param({"kind": "sleep"}, 1, marks=linux),
        pytest.param({**TOGETHER, "does": "all sleep"}, 2, marks=launches),
    ],
)
def test_children_die_with_a_parent_that_was_killed(tmp_path: Path, job: Mapping[str, Any], processes: int) -> None:
    path, log, script = (str(tmp_path / name) for name in ("job.json", "log.txt", "scripted_child.py"))
    program = f"""
from pathlib import Path
from rl_gym.training import supervise
supervise.CHILD = ({script!r},)
jobs = [(Path({path!r}), {dict(job)!r})]
supervise.run_jobs(jobs, log=Path({log!r}), threads=1, report=lambda message: print(message["done"], flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(parent.stdout.readline()) for _ in range(processes)]
        assert all(alive(pid) for pid in pids)
        below = descendants(parent.pid)
        assert set(pids) <= below
        parent.kill()
        parent.wait()
    assert all(gone(pid) for pid in below)


def test_a_job_is_described_on_disk(tmp_path: Path) -> None:
    run(tmp_path, {"kind": "report", "name": "sft"})
    assert json.loads((tmp_path / "grpo" / "0.json").read_text()) == {"kind": "report", "name": "sft"}


def descendants(pid: int) -> set[int]:
    """The processes below one, as `/proc` has them."""
    children = {
        int(child) for listed in Path(f"/proc/{pid}/task").glob("*/children") for child in listed.read_text().split()
    }
    return children.union(*map(descendants, children))


def gone(pid: int) -> bool:
    """Whether a process ends before long."""
    deadline = time.monotonic() + 30
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that nobody has waited for is dead, too.
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")
