"""Starts a service as a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

__all__ = ["free_port", "running"]

ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 90


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def running(
    service: str, settings: Mapping[str, str], start_seconds: float = _START_SECONDS, port: int | None = None
) -> Iterator[str]:
    """The address of a service with these settings, named without their prefix, from the moment that it is ready."""
    pytest.importorskip("uvicorn", reason="the extra services is not installed")
    port = port or free_port()
    environment = {
        **os.environ,
        **{f"RL_GYM_{service.upper()}_{name}": value for name, value in settings.items()},
        f"RL_GYM_{service.upper()}_PORT": str(port),
        "RL_GYM_LOG_LEVEL": "error",
        "PYTHONPATH": os.pathsep.join((str(ROOT / "shared"), str(ROOT))),
    }
    process = subprocess.Popen([sys.executable, "-m", f"services.{service}"], cwd=ROOT, env=environment)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address, process, start_seconds)
        yield address
    finally:
        process.terminate()
        process.wait(40)


def _wait(address: str, process: subprocess.Popen[bytes], seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(f"{address}/readyz", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    pytest.fail(f"the service at {address} did not come up")
