"""A process that is kept: it comes up again after an end, and goes with whoever keeps it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("structlog", reason="the extra services is not installed")

from rl_gym.infra import kept_process
from rl_gym.infra.kept_process import KeptProcess

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "


@pytest.fixture(autouse=True)
def brief_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_process, "_FIRST_PAUSE_SECONDS", 0.01)


def writing(seen: Path, then: str = "", before: str = "") -> KeptProcess:
    """A process that adds its number to a file, and then does something more."""
    program = f"{before}import os; f = open({str(seen)!r}, 'a'); print(os.getpid(), file=f, flush=True); {then}"
    return KeptProcess("writer", [sys.executable, "-c", program], dict(os.environ), end_seconds=1)


def pids(seen: Path) -> list[int]:
    return [int(line) for line in seen.read_text().split()] if seen.exists() else []


def keep(process: KeptProcess, until: Callable[[], bool]) -> None:
    async def scenario() -> None:
        await process.open()
        while not until():
            await asyncio.sleep(0.01)
        await process.close()

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_what_ends_is_started_again(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    process = writing(seen)
    keep(process, lambda: len(pids(seen)) > 2)
    assert process.restarts >= 2
    assert process.state.startswith("not running, started again")


@pytest.mark.parametrize("before", ["", STUBBORN])
def test_it_is_gone_afterwards_whether_it_would_or_not(tmp_path: Path, before: str) -> None:
    seen = tmp_path / "seen"
    process = writing(seen, "import time; time.sleep(60)", before)
    keep(process, lambda: bool(pids(seen)) and process.state == "running")
    [pid] = pids(seen)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_it_is_started_again_where_it_could_not_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    start, tries = asyncio.create_subprocess_exec, []

    async def once_in_vain(*command: str, **options: object) -> asyncio.subprocess.Process:
        tries.append(command)
        if len(tries) == 1:
            raise BlockingIOError("no more processes")
        return await start(*command, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", once_in_vain)
    seen = tmp_path / "seen"
    keep(writing(seen, "import time; time.sleep(60)"), lambda: bool(pids(seen)))
    assert len(tries) == 2
