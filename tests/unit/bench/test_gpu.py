"""`bench/gpu.sh` where there is no GPU to measure: it says why, and ends well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(python: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHON": python}
    return subprocess.run(["sh", "bench/gpu.sh"], cwd=ROOT, env=environment, capture_output=True, text=True)


def test_without_torch_for_cuda_it_says_so() -> None:
    torch = pytest.importorskip("torch", reason="the extra serve is not installed")
    if torch.version.cuda is not None:
        pytest.skip("torch has CUDA here: this would measure")
    done = run(sys.executable)
    assert (done.returncode, done.stdout) == (
        0,
        f"skipped: {sys.executable} has no torch that was built with CUDA\n",
    )


def test_without_a_python_it_says_so(tmp_path: Path) -> None:
    done = run(str(tmp_path / "python"))
    assert done.returncode == 0
    assert done.stdout.startswith("skipped: no Python 3.11 or later")


def test_without_what_trains_it_asks_for_the_archive(tmp_path: Path) -> None:
    python = tmp_path / "python"
    # Has torch with CUDA, and nothing else.
    python.write_text('#!/bin/sh\ncase "$2" in *trl*) exit 1;; *%d*) echo 9.9;; esac\n')
    python.chmod(0o755)
    done = run(str(python))
    assert done.returncode == 0
    assert "no build/gpu-packages-9.9.tar.xz: make it by pack" in done.stdout


def test_the_script_is_the_shell_that_posix_has() -> None:
    done = subprocess.run(["sh", "-n", "bench/gpu.sh"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
