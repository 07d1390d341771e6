"""Children that train: they report, fail in one line, and do not outlive whoever started them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rl_gym.infra.errors import InfrastructureError
from rl_gym.training.supervise import run_jobs

CHILD = """
import json, os, sys, time
from rl_gym.training import child

def run(job, channel):
    kind = job["kind"]
    if kind == "report":
        print("a library prints this")
        for step in range(3):
            channel.progress(job["name"], step + 1, 3)
        channel.metrics(job["name"], 3, {"loss": 0.5})
    elif kind == "crash":
        raise ValueError("what went wrong\\nand a second line")
    elif kind == "full":
        import errno
        raise OSError(errno.ENOSPC, "No space left on device")
    elif kind == "killed":
        os.kill(os.getpid(), 9)
    elif kind == "sleep":
        channel.progress("pid", os.getpid(), 1)
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


def run(tmp_path: Path, *jobs: Mapping[str, Any], processes: int = 1) -> list[Mapping[str, Any]]:
    heard: list[Mapping[str, Any]] = []
    named = [(tmp_path / f"{number}.json", job) for number, job in enumerate(jobs)]
    run_jobs(named, log=tmp_path / "log.txt", threads=1, report=heard.append, processes=processes)
    return heard


def test_reports_arrive_in_order_and_prints_go_to_the_log(tmp_path: Path) -> None:
    heard = run(tmp_path, {"kind": "report", "name": "sft"})
    assert [message.get("done") for message in heard] == [1, 2, 3, None]
    assert heard[-1] == {"job": "sft", "step": 3, "metrics": {"loss": 0.5}}
    assert (tmp_path / "log.txt").read_text() == "a library prints this\n"


def test_several_children_report_side_by_side(tmp_path: Path) -> None:
    jobs = [{"kind": "report", "name": name} for name in "abc"]
    heard = run(tmp_path, *jobs, processes=2)
    assert sorted(message["job"] for message in heard if "done" in message) == sorted("abc" * 3)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("crash", "failed: ValueError: what went wrong; see"),
        ("full", "no space left on the disk"),
        ("killed", "its process ended with SIGKILL; see"),
    ],
)
def test_a_failure_is_one_line_that_names_the_log(tmp_path: Path, kind: str, said: str) -> None:
    with pytest.raises(InfrastructureError) as raised:
        run(tmp_path, {"kind": kind})
    assert said in str(raised.value)
    assert str(tmp_path / "log.txt") in str(raised.value)
    assert "\n" not in str(raised.value)


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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child whose parent was killed")
def test_a_child_dies_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    job, log, script = (str(tmp_path / name) for name in ("job.json", "log.txt", "scripted_child.py"))
    program = f"""
from pathlib import Path
from rl_gym.training import supervise
supervise.CHILD = ({script!r},)
jobs = [(Path({job!r}), {{"kind": "sleep"}})]
supervise.run_jobs(jobs, log=Path({log!r}), threads=1, report=lambda message: print(message["done"], flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


def test_a_job_is_described_on_disk(tmp_path: Path) -> None:
    run(tmp_path, {"kind": "report", "name": "sft"})
    assert json.loads((tmp_path / "0.json").read_text()) == {"kind": "report", "name": "sft"}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that nobody has waited for is dead, too.
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")
