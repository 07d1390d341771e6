"""The trainer's application in process: a file of SQLite, a folder of objects, and a queue that a test looks into."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import httpx

from rl_gym.infra.folder_store import FolderStore
from rl_gym.infra.object_store import ObjectStore
from rl_gym.infra.queue import make_app
from rl_gym.wire import Run
from services.trainer.app import create_app
from services.trainer.artifacts import store_stage
from services.trainer.live import Live
from services.trainer.settings import TrainerSettings
from services.trainer.wiring import Parts
from tests.unit.services.trainer.runs import Runs

__all__ = ["NOWHERE", "run", "running", "stored"]

NOWHERE = "redis://127.0.0.1:9/0"
"""Where no Redis answers."""


@asynccontextmanager
async def running(runs: Runs, objects: ObjectStore | None = None, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application over these runs, and over a folder of objects where no other store is given."""
    chosen = TrainerSettings(runs=runs.folder, objects=str(runs.folder / "objects"), **settings)
    store = objects or FolderStore(runs.folder / "objects")
    parts = Parts(runs.delivery, Live(NOWHERE), make_app("test", NOWHERE, longest_seconds=60), lambda: store)
    app = create_app(chosen, parts)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:
            yield http


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), 60))  # type: ignore[arg-type]


def stored(runs: Runs, made: Run, stage: str, **files: bytes) -> str:
    """Let a stage end with files, as a worker does; the digest of its manifest."""
    folder = runs.folder / "work" / made.id / stage
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    digests = {name: sha256(content).hexdigest() for name, content in files.items()}
    (folder / "manifest.json").write_text(json.dumps({"stage": stage, "files": digests, "inputs": {}}))
    found = store_stage(FolderStore(runs.folder / "objects"), made.id, folder)
    runs.delivery.finish(runs.claim(made, stage), found.digest)
    return found.digest
