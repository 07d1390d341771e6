"""Wiring: settings in, application out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from rl_gym.infra.hosting import make_app
from services.verifier.routes import BODIES, router
from services.verifier.service import VerifierService
from services.verifier.settings import VerifierSettings

__all__ = ["create_app"]


def create_app(settings: VerifierSettings) -> FastAPI:
    """The verifier's application; its workers live as long as its lifespan."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service: VerifierService = app.state.verifier
        service.open()
        try:
            yield
        finally:
            await service.close()

    app = make_app(settings, "rl-gym verifier", lifespan, BODIES)
    app.state.verifier = VerifierService(settings, app.state.registry)
    app.include_router(router)
    return app
