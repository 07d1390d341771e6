"""A tethered program ends with the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from rl_gym.infra.tether import tethered

STARTS_ONE = """\
import subprocess, sys, time
from rl_gym.infra.tether import tethered
child = subprocess.Popen(tethered([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]),
                         stdout=subprocess.PIPE, text=True)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a process of its parent's end")
def test_it_ends_with_a_parent_that_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", STARTS_ONE], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert is_alive(child)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 30
    while is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_runs_the_program_with_its_words_and_status() -> None:
    done = subprocess.run(
        tethered([sys.executable, "-c", "import sys; print(sys.argv[1:]); sys.exit(7)", "a b", "$HOME"]),
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert (done.returncode, done.stdout) == (7, "['a b', '$HOME']\n")
