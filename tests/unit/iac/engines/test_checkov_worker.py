"""What the guard of a Checkov worker lets through; it needs no Checkov."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rl_gym.iac.engines import checkov_worker

GUARDED = """\
import json, os, shutil, signal, socket, subprocess, sys, tempfile
sys.path.insert(0, sys.argv[1])
import checkov_worker
guard = checkov_worker.Guard()
guard.folder = sys.argv[2] + os.sep
guard.active = True
try:
    exec(sys.argv[3])
except PermissionError as error:
    os.write(1, f"refused: {error}".encode())
"""


def guarded(folder: Path, statement: str) -> str:
    place = str(Path(checkov_worker.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", GUARDED, place, str(folder), statement], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize(
    "statement",
    [
        "socket.socket()",
        "socket.getaddrinfo('localhost', 80)",
        "subprocess.run(['true'])",
        "os.system('true')",
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "os.execv('/bin/true', ['true'])",
        "os.kill(os.getppid(), 0)",
        "open('/etc/passwd')",
        "os.open('/etc/passwd', os.O_RDONLY)",
        "os.listdir('/etc')",
        "os.listdir()",
        "list(os.scandir('/etc'))",
        "open(sys.argv[2] + '/new', 'w')",
        "open(sys.argv[2] + '/main.tf', 'a')",
        "open(sys.argv[2] + '/../outside')",
        "open(sys.argv[2] + '/link')",
        "os.remove(sys.argv[2] + '/main.tf')",
        "os.symlink('/etc', sys.argv[2] + '/etc')",
        "os.mkdir(sys.argv[2] + '/new')",
        "shutil.rmtree(sys.argv[2])",
        "__import__('ctypes').CDLL(None)",
    ],
)
def test_what_a_scan_does_not_need_is_refused(tmp_path: Path, statement: str) -> None:
    folder = tmp_path / "module"
    folder.mkdir()
    (folder / "main.tf").write_text("")
    (tmp_path / "outside").write_text("")
    (folder / "link").symlink_to("/etc/passwd")
    assert guarded(folder, statement).startswith("refused: not for a scan")
    assert sorted(path.name for path in folder.iterdir()) == ["link", "main.tf"]


@pytest.mark.parametrize(
    "statement", ["open(sys.argv[2] + '/main.tf').read()", "os.listdir(sys.argv[2])", "import decimal, xml.dom.minidom"]
)
def test_what_a_scan_needs_is_not(tmp_path: Path, statement: str) -> None:
    (tmp_path / "main.tf").write_text("")
    assert guarded(tmp_path, statement) == ""
