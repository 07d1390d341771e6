"""Wiring: settings in, application out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from rl_gym.infra.hosting import make_app
from rl_gym.infra.hosting.errors import request_id
from services.policy.routes import BODIES, router
from services.policy.service import PolicyService
from services.policy.settings import PolicySettings
from services.policy.wiring import Parts, wire

__all__ = ["create_app"]


def create_app(settings: PolicySettings, parts: Parts | None = None) -> FastAPI:
    """The policy's application; its parts, by default those that settings name, live as long as its lifespan."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service: PolicyService = app.state.policy
        await service.open()
        try:
            yield
        finally:
            await service.close()

    app = make_app(settings, "rl-gym policy", lifespan, BODIES)
    app.state.policy = PolicyService(settings, app.state.registry, parts or wire(settings, request_id))
    app.include_router(router)
    return app
