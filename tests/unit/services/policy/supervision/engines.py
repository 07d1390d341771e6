"""A stand-in for a Python with vLLM, and what it leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.policy.supervision import EngineFlags

PROGRAM = Path(__file__).with_name("fake_vllm.py")


@dataclass(frozen=True)
class Fake:
    """Where the stand-in is, and the folder in which it tells of its starts."""

    python: Path
    folder: Path

    def flags(self, **wrong: Any) -> EngineFlags:
        return EngineFlags(model="m", extra=("--fake", json.dumps({"folder": str(self.folder), **wrong})))

    def starts(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob("start-*"))]

    def let_die(self, number: int, last_words: str) -> None:
        partial = self.folder / "last-words"
        partial.write_text(last_words)
        partial.rename(self.folder / f"die-{number}")

    def left(self) -> list[int]:
        """The processes of any start that still run."""
        pids = [start[name] for start in self.starts() for name in ("pid", "child") if name in start]
        return [pid for pid in pids if is_running(pid)]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


async def until(condition: Callable[[], object], seconds: float = 20) -> None:
    """Wait for something that has to come true."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
