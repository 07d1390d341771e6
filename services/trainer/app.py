"""Wiring: settings in, application out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from rl_gym.infra.hosting import make_app
from services.trainer.routes import BODIES, router
from services.trainer.service import TrainerService
from services.trainer.settings import TrainerSettings
from services.trainer.wiring import Parts, wire

__all__ = ["create_app"]


def create_app(settings: TrainerSettings, parts: Parts | None = None) -> FastAPI:
    """The trainer's API; its parts, by default those that settings name, live as long as its lifespan."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service: TrainerService = app.state.trainer
        await service.open()
        try:
            yield
        finally:
            await service.close()

    app = make_app(settings, "rl-gym trainer", lifespan, BODIES)
    app.state.trainer = TrainerService(settings, app.state.registry, parts or wire(settings))
    app.include_router(router)
    return app
