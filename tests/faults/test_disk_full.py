"""The disk is full: one line that says so, and the run goes on by itself when there is room."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.conftest import Deploy, Expected
from tests.faults.outcome import assert_ended_right

ROOM = 1_500_000
"""Bytes: more than what is trained on takes, less than a model."""


def test_the_disk_is_full(deploy: Deploy, tmp_path: Path, expected: Expected) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk, deploy(runs=disk / "runs", retry_seconds=2) as deployment:
        full = disk / "full"
        fill(full)
        run = deployment.submit("sft")
        deployment.start("control")
        deployment.start()
        deployment.until(lambda: len(deployment.failures(run, "prepare")) >= 1)
        # Room for what is trained on, and for no model.
        os.truncate(full, full.stat().st_size - ROOM)
        deployment.until(lambda: len(deployment.failures(run, "sft")) >= 1)
        full.unlink()
        deployment.until(deployment.has_ended(run))
        told = [*deployment.failures(run, "prepare"), *deployment.failures(run, "sft")]
        assert [detail for detail in told if "no space left on" not in detail.lower()] == []
        # One line: which attempt, and whose disk it is.
        line = rf"attempt \d+: .*{re.escape(str(deployment.settings.runs / run.id))}.*"
        assert [detail for detail in told if not re.fullmatch(line, detail) or "Traceback" in detail] == []
        assert deployment.attempts(run)["sft"] == 2
        assert_ended_right(deployment, run, expected())


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own that holds no more than `size`."""
    folder.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("a small disk is made by root alone")
    made = subprocess.run([mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True)
    if made.returncode != 0:
        pytest.skip(f"no small disk can be made here: {made.stderr.decode(errors='replace').strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write a file until there is no room for more."""
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4_096)):
                continue
        except OSError:
            return
