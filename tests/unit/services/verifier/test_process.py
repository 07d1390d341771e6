"""The service as a process: where it listens, and how it and its workers end."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra services is not installed")

from tests.unit.services.verifier.hostile_environment import NAME

ROOT = Path(__file__).resolve().parents[4]


def start(**settings: str) -> subprocess.Popen[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("RL_GYM_")}
    env |= {f"RL_GYM_VERIFIER_{name.upper()}": value for name, value in settings.items()}
    env["PYTHONPATH"] = os.pathsep.join((str(ROOT / "shared"), str(ROOT)))
    command = [sys.executable, "-m", "services.verifier"]
    return subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def service() -> Iterator[tuple[subprocess.Popen[str], int]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = start(port=str(port), workers="1", engines="builtin", environments=NAME, log_level="error")
    try:
        wait_for(lambda: ready(port))
        yield process, port
    finally:
        process.kill()
        process.communicate()


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(900):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it did not come to that within 90 s")


def ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False


def score(port: int, *completions: str) -> list[float | None]:
    items = [{"episode": {"id": "e", "request": "obey"}, "completion": text} for text in completions]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"environment": NAME, "items": items})
    connection.request("POST", "/score", body, {"Content-Type": "application/json"})
    results = json.loads(connection.getresponse().read())["results"]
    return [one["scorecard"] and one["scorecard"]["breakdown"]["reward"] for one in results]


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pids: list[int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_it_does_not_listen_for_others_without_keys() -> None:
    process = start(host="0.0.0.0")
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 1
    assert shown.startswith("error: listening on 0.0.0.0 without principal keys")
    assert len(shown.splitlines()) == 1


def test_a_setting_that_makes_no_sense_is_one_line() -> None:
    process = start(workers="many")
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 1
    assert shown.startswith("error: RL_GYM_VERIFIER_WORKERS: ")
    assert len(shown.splitlines()) == 1


def test_on_sigterm_it_finishes_what_it_has_begun(service: tuple[subprocess.Popen[str], int]) -> None:
    process, port = service
    workers = children(process.pid)
    assert workers
    answers: list[list[float | None]] = []
    caller = threading.Thread(target=lambda: answers.append(score(port, "sleep 1", "reward 0.5")))
    caller.start()
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    caller.join(60)
    assert answers == [[1.0, 0.5]]
    assert process.wait(60) in (0, -signal.SIGTERM)
    assert gone(workers)


def test_workers_die_with_a_service_that_is_killed_and_are_replaced_while_it_lives(
    service: tuple[subprocess.Popen[str], int],
) -> None:
    process, port = service
    for worker in children(process.pid):
        os.kill(worker, signal.SIGKILL)
    assert score(port, "reward 0.5") == [0.5]
    wait_for(lambda: ready(port))
    workers = children(process.pid)
    process.kill()
    process.wait(60)
    wait_for(lambda: gone(workers))
